#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# usage: check_header.sh CC CXX INCLUDE_DIR
# mpi.h compiles without a warning in old and new C and C++, and every constant in it can be used.
set -eu
cc=$1 cxx=$2 include=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

constants=$(sed -n -e 's/^#define \(MPIX*_[A-Z0-9_a-z]*\) .*/\1/p' \
  -e 's/^  \(MPIX*_[A-Z0-9_]*\) *= .*/\1/p' "$include/mpi.h" | grep -v -e '^MPI_ABI_DEPRECATED_$')
count=$(echo "$constants" | wc -l)
[ "$count" -ge 365 ] || {
  echo "only $count constants found in mpi.h"
  exit 1
}
{
  echo '#include <mpi.h>'
  echo 'void use_all(void); void use_all(void) {'
  for name in $constants; do echo "  (void)($name);"; done
  echo '}'
} >"$work/use.c"
cp "$work/use.c" "$work/use.cc"

flags="-Wall -Wextra -Werror -pedantic -I$include -fsyntax-only"
for standard in c99 c11 c17; do
  $cc -std=$standard $flags -Wstrict-prototypes "$work/use.c" || exit 1
done
for standard in c++11 c++17 c++20; do
  $cxx -std=$standard $flags "$work/use.cc" || exit 1
done
# Deprecated functions warn those who ask for it, and nobody else.
echo '#include <mpi.h>
int f(MPI_Comm comm); int f(MPI_Comm comm) { return MPI_Attr_delete(comm, 0); }' >"$work/old.c"
$cc $flags "$work/old.c"
if $cc $flags -DMPI_WARN_DEPRECATED "$work/old.c" 2>/dev/null; then
  echo "MPI_WARN_DEPRECATED does not warn"
  exit 1
fi
# Pointers with special values are no arrays that are too short. These warnings are the default, and want code.
echo '#include <mpi.h>
int graph(MPI_Comm comm, MPI_Comm* made, int* ints);
int graph(MPI_Comm comm, MPI_Comm* made, int* ints) {
  MPI_Dist_graph_create(comm, 1, ints, ints, ints, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
  MPI_Dist_graph_create(comm, 0, ints, ints, ints, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, made);
  MPI_Dist_graph_create_adjacent(comm, 1, ints, MPI_UNWEIGHTED, 0, ints, MPI_WEIGHTS_EMPTY, MPI_INFO_NULL, 0, made);
  return MPI_Dist_graph_neighbors(comm, 1, ints, MPI_UNWEIGHTED, 1, ints, MPI_UNWEIGHTED);
}' >"$work/graph.c"
cp "$work/graph.c" "$work/graph.cc"
for level in 0 2; do
  $cc -O$level -Wall -Wextra -Werror "-I$include" -c "$work/graph.c" -o "$work/graph.o" || exit 1
  $cxx -O$level -Wall -Wextra -Werror "-I$include" -c "$work/graph.cc" -o "$work/graph.o" || exit 1
done
echo "$count constants, 6 language standards"
