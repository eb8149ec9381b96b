# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# Completion in bash for mpiexec, mpirun, fulmar and the compiler wrappers. Options are taken from `--help` of the program
# that is completed, so that they are those of the installed version.

_fulmar_options() { # PROGRAM ARGUMENT...: its long options, one a line
  "$@" --help 2>/dev/null | grep -oE '(^|[ ,])--?[A-Za-z][A-Za-z0-9-]*' | grep -oE -- '--?[A-Za-z].*' | sort -u
}

_fulmar_values() { # OPTION: words that may follow it; fails for options without a value
  local name=${1#-}
  case ${name#-} in
    bind-to | binding) echo none hwthread core l3cache numa socket ;;
    map-by) echo node hwthread core l3cache numa socket ppr: ;;
    display) echo map bind ;;
    stdin | s) echo 0 all none ;;
    on-failure) echo abort continue ;;
    manager) echo auto slurm prte hydra ;;
    abi) echo auto mpich openmpi standard none ;;
    initial-errhandler) echo mpi_errors_are_fatal mpi_errors_abort mpi_errors_return ;;
    output) echo tag timestamp merge-stderr-to-stdout dir= filename= nocopy ;;
    usize) echo INFINITE SYSTEM ;;
    env | x | genv | envlist | genvlist) compgen -e ;;
    host | hosts | H) compgen -A hostname || true ;;
    wdir | wd | path) compgen -d || true ;;
    hostfile | f | machinefile | machine | default-hostfile | configfile) compgen -f || true ;;
    outfile* | errfile* | output-filename | output-directory) compgen -f || true ;;
    n | np | c | N | ppn | perhost | npernode | cpus-per-rank | cpus-per-proc | timeout | deadlock-timeout) ;;
    arch | iface | prepend-pattern | memory-alloc-kinds) ;;
    *) return 1 ;;
  esac
}

_fulmar_mpiexec() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} values i
  # The first word that is neither an option nor its value is the program; what follows it is the program's, up to a colon.
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      -*) _fulmar_values "${COMP_WORDS[i]}" >/dev/null && ((++i)) ;;
      *)
        while ((i < COMP_CWORD)) && [[ ${COMP_WORDS[i]} != : ]]; do ((++i)); done
        if ((i >= COMP_CWORD)); then
          mapfile -t COMPREPLY < <(compgen -f -- "$current")
          return
        fi
        ;;
    esac
  done
  if [[ $previous == -* ]] && values=$(_fulmar_values "$previous"); then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
  elif [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$(_fulmar_options "${COMP_WORDS[0]}")" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
  fi
}

_fulmar_tool() {
  local current=${COMP_WORDS[COMP_CWORD]} commands
  commands=$("${COMP_WORDS[0]}" --help 2>/dev/null | sed -n '/^Subcommands:/,$ s/^  \([a-z][a-z-]*\) .*/\1/p')
  if [[ $current == -* ]]; then
    if ((COMP_CWORD > 1)); then
      mapfile -t COMPREPLY < <(compgen -W "$(_fulmar_options "${COMP_WORDS[0]}" "${COMP_WORDS[1]}")" -- "$current")
    else
      mapfile -t COMPREPLY < <(compgen -W "$(_fulmar_options "${COMP_WORDS[0]}")" -- "$current")
    fi
  elif ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}

_fulmar_wrapper() {
  local current=${COMP_WORDS[COMP_CWORD]}
  local options='-show -showme -showme:compile -showme:link -showme:incdirs -compile-info -link-info -c -o -g -O2 -I -L -l'
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  fi
}

# NAME.fulmar are the names that Debian packages have beside other MPIs.
complete -o filenames -F _fulmar_mpiexec {mpiexec,mpirun}{,.fulmar}
complete -o filenames -F _fulmar_tool fulmar
complete -o filenames -F _fulmar_wrapper mpi{cc,cxx,c++,CC,fort,f77,f90}{,.fulmar}
