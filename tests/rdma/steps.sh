#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# usage: steps.sh MARK FILE
# Runs in a guest (tests/support/rdmavm) what the file lists: lines of a name, a time limit in seconds and a
# command for a shell, with tabs between them. Whatever fails, the others run. For each prints
#   MARK begin NAME
#   what the command prints
#   MARK end NAME STATUS SECONDS
set -u
mark=$1
exec 3<"$2"
while IFS=$'\t' read -r -u 3 name limit command; do
  printf '%s begin %s\n' "$mark" "$name"
  begin=$SECONDS
  timeout -k 5 "$limit" bash -c "$command" </dev/null 2>&1 3<&-
  printf '\n%s end %s %d %d\n' "$mark" "$name" $? $((SECONDS - begin))
done
