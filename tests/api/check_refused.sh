#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# usage: check_refused.sh PROGRAM
# An error that nobody asked to get back ends the process with a line that says where and why.
set -eu
program=$1
failures=0

# expect WHEN WORD...: the program fails and its errors contain the words.
expect() {
  when=$1
  shift
  if output=$("$program" "$when" 2>&1); then
    echo "$when: ended well"
    failures=$((failures + 1))
  fi
  for word in "$@"; do
    case $output in
      *"$word"*) ;;
      *)
        echo "$when: no \"$word\" in: $output"
        failures=$((failures + 1))
        ;;
    esac
  done
}

expect before MPI_Send "not initialised"
expect after MPI_Send "not initialised"
expect fatal MPI_Send MPI_COMM_WORLD MPI_ERR_RANK "argument dest" "rank 17" "of size 1"
expect self MPI_Type_contiguous MPI_ERR_COUNT "argument count" "-1"
[ "$("$program")" = returned ] || {
  echo "the plain run fails"
  exit 1
}
[ "$failures" -eq 0 ]
