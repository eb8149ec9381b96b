#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# usage: completion_test.sh BIN FILE: what bash's completion offers for mpiexec, fulmar and a wrapper
set -u
PATH=$(cd "$1" && pwd):$PATH
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
exit $((failures > 0))
