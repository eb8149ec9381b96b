#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# usage: check_golden.sh PYTHON SOURCE_DIR [--update]
set -eu
python=$1 source=$2
golden=$source/tests/api/golden_shims.txt
names="MPI_Send MPI_Send_c MPI_Gatherv_c MPI_Comm_free MPI_Info_create MPI_Wtime"
work=$(mktemp)
trap 'rm -f "$work"' EXIT
# shellcheck disable=SC2086
"$python" "$source/tools/apigen" --spec "$source/spec" --print-shims $names >"$work"
if [ "${3-}" = --update ]; then
  cp "$work" "$golden"
fi
diff -u "$golden" "$work" || {
  echo "the shims differ from tests/api/golden_shims.txt; if that is meant, run this with --update"
  exit 1
}
