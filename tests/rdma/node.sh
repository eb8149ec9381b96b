#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# usage: node.sh [--loss PERCENT] COMMAND...
# Runs in each of several guests (tests/support/rdmavm): the first runs the command, the others do what it asks
# them for through rdmavm-rsh, until it has ended. --loss: the networks lose packets and delay them by 1 ms.
set -u
if [ "$1" = --loss ]; then
  for interface in /sys/class/net/eth*; do
    tc qdisc add dev "${interface##*/}" root netem loss "$2%" delay 1ms || exit 1
  done
  shift 2
fi
rsh=$(dirname "$0")/../support/rdmavm-rsh
"$rsh" --serve &
served=$!
status=0
if [ "$NODE_ID" = 0 ]; then
  "$@"
  status=$?
  : >"$NODE_SHARED/ended"
else
  until [ -e "$NODE_SHARED/ended" ]; do
    sleep 0.3
  done
fi
kill $served
exit $status
