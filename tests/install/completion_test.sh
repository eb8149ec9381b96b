#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# usage: completion_test.sh BIN FILE: what bash's completion offers for mpiexec, fulmar and a wrapper, and zsh's, where zsh is
# installed (ZSH names another)
set -u
set -- "$(realpath "$1")" "$(realpath "$2")"
PATH=$1:$PATH
source "$2"
failures=0

offers() { # WANTED WORD...: the last of WORD is completed; WANTED is among what is offered
  local wanted=$1
  shift
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  local function
  function=$(complete -p "$1" | sed 's/.*-F \([^ ]*\) .*/\1/')
  $function
  local reply
  for reply in "${COMPREPLY[@]}"; do [[ $reply == "$wanted" ]] && return; done
  echo "'$*' does not offer '$wanted', but: ${COMPREPLY[*]:0:20}"
  failures=$((failures + 1))
}
offers_nothing() {
  COMP_WORDS=("$@")
  COMP_CWORD=$(($# - 1))
  COMPREPLY=()
  _fulmar_mpiexec
  [[ ${#COMPREPLY[@]} == 0 ]] && return
  echo "'$*' offers ${COMPREPLY[*]}"
  failures=$((failures + 1))
}

cd "$(dirname "$2")"
offers --bind-to mpiexec --bi
offers --deadlock-timeout mpirun -n 4 --deadl
offers l3cache mpiexec --bind-to l
offers openmpi mpiexec --abi open
offers PATH mpiexec -x PA
offers fulmar.bash mpiexec -n 2 ./prog ful
offers --map-by mpiexec -n 2 ./prog argument : --map
offers_nothing mpiexec -n 2 ./prog --map
offers bench fulmar be
offers --help fulmar info --he
offers -showme mpicc -showm
offers -showme mpifort -showm
# Options of the help with a value are known to have one, so that the value is not taken for the program; others are not.
while read -r line; do
  read -ra words <<<"${line//,/}"
  for option in "${words[@]}"; do
    [[ $option == -* ]] || continue
    [[ ${words[-1]} == -* ]] && wanted=1 || wanted=0
    _fulmar_values "$option" >/dev/null
    [[ $? == "$wanted" ]] || { echo "$option: whether it takes a value"; failures=$((failures + 1)); }
  done
done < <(mpiexec --help | grep -E '^  -' | sed -E 's/^  //; s/  +.*//; s/ +$//')
# zsh's file is read from a folder as it is installed in. compadd gets what zsh would offer.
if zsh=$(command -v "${ZSH-zsh}"); then
  share=$(mktemp -d)
  trap 'rm -r "$share"' EXIT
  mkdir -p "$share/zsh/site-functions" "$share/bash-completion/completions"
  cp "$(dirname "$2")/_fulmar" "$share/zsh/site-functions"
  cp "$2" "$share/bash-completion/completions/fulmar"
  zsh_offers() { # WANTED WORD...
    local wanted=$1
    shift
    # shellcheck disable=SC2016
    "$zsh" -f -c 'fpath=($1/zsh/site-functions $fpath); shift; words=("$@"); CURRENT=$#
      compadd() { shift; print -rl -- "$@" }
      autoload -Uz _fulmar; _fulmar' zsh "$share" "$@" | grep -qxe "$wanted" && return
    echo "zsh: '$*' does not offer '$wanted'"
    failures=$((failures + 1))
  }
  zsh_offers --bind-to mpiexec --bi
  zsh_offers l3cache mpirun.fulmar --bind-to l
  zsh_offers bench fulmar be
  zsh_offers -showme mpicc -showm
fi
exit $((failures > 0))
