#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
#
# usage: check_added_names.sh CC CXX INCLUDE_DIR EXPORTS
# The names that fulmar/mpi_fortran_handles.h and fulmar/mpi_removed.h add: they compile without a
# warning in old and new C and C++, need no name that libmpi_abi does not export, define none, and can
# be left out.
set -eu
export LC_ALL=C
cc=$1 cxx=$2 include=$3 exports=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
  echo "check_added_names: $1"
  exit 1
}

handles=$(sed -n 's/^FULMAR_[A-Z]*_INLINE_ .*[ *]\(P*MPI_[A-Za-z]*_\(c2f\|f2c\|[cf0-9]*2[cf0-9]*\)\)(.*/\1/p' \
  "$include/fulmar/mpi_fortran_handles.h" | sort -u)
removed='MPI_Address MPI_Errhandler_create MPI_Errhandler_get MPI_Errhandler_set MPI_Type_extent
  MPI_Type_hindexed MPI_Type_hvector MPI_Type_lb MPI_Type_struct MPI_Type_ub'
[ "$(echo "$handles" | wc -l)" -eq 56 ] || fail "$(echo "$handles" | wc -l) conversions instead of 56"

# A table of all functions, so that each is compiled.
{
  echo '#include <mpi.h>'
  echo 'typedef void (*Any)(void);'
  echo 'Any table(int i); Any table(int i) { switch (i) {'
  i=0
  for name in $handles $removed; do
    echo "  case $i: return (Any)$name;"
    i=$((i + 1))
  done
  echo '  default: return (Any)0; } }'
  echo 'MPI_Datatype bounds[] = {MPI_LB, MPI_UB};'
  echo 'int is_old(int combiner); int is_old(int combiner) { switch (combiner) {'
  echo '  case MPI_COMBINER_HVECTOR_INTEGER: case MPI_COMBINER_HINDEXED_INTEGER:'
  echo '  case MPI_COMBINER_STRUCT_INTEGER: case MPI_COMBINER_HVECTOR: case MPI_COMBINER_HINDEXED:'
  echo '  case MPI_COMBINER_STRUCT: return 1; default: return 0; } }'
  echo 'extern MPI_Handler_function* handler; MPI_Handler_function* handler;'
} >"$work/use.c"
cp "$work/use.c" "$work/use.cc"
echo '#include <mpi.h>' | tee "$work/plain.c" >"$work/plain.cc"

# Who only includes mpi.h is warned of nothing, whatever warnings are on.
strict="-Wall -Wextra -Werror -pedantic -Wshadow -Wconversion -Wcast-qual -Wundef -I$include"
for standard in c90 c99 c11 c17; do
  more=
  [ "$standard" != c90 ] || more=-Wno-long-long
  $cc -std=$standard $strict $more -Wstrict-prototypes -Wmissing-prototypes -fsyntax-only "$work/plain.c" ||
    fail "mpi.h in $standard"
  $cc -std=$standard $strict $more -Wno-cast-function-type -Wno-deprecated-declarations -fsyntax-only \
    "$work/use.c" || fail "the functions in $standard"
done
for standard in c++11 c++17 c++20; do
  $cxx -std=$standard $strict -Wold-style-cast -Wno-register -fsyntax-only "$work/plain.cc" ||
    fail "mpi.h in $standard"
  $cxx -std=$standard $strict -Wno-cast-function-type -Wno-deprecated-declarations -fsyntax-only \
    "$work/use.cc" || fail "the functions in $standard"
done

# All that an object with every function needs is exported, and it offers none of them.
$cc -O0 -Wno-deprecated-declarations "-I$include" -c "$work/use.c" -o "$work/use.o"
foreign=$(nm -u "$work/use.o" | sed 's/.* //' | grep -v '^_GLOBAL_OFFSET_TABLE_$' | sort)
foreign=$(sort "$exports" | { echo "$foreign" >"$work/needed" && comm -23 "$work/needed" -; })
[ -z "$foreign" ] || fail "not in the ABI: $foreign"
offered=$(nm -g --defined-only "$work/use.o" | sed 's/.* //' | grep MPI || :)
[ -z "$offered" ] || fail "defined: $offered"

# Each use of a removed name is warned of.
for name in $removed; do
  printf '#include <mpi.h>\nvoid f(void) { (void)%s; }\n' "$name" >"$work/one.c"
  if $cc -Werror=deprecated-declarations "-I$include" -fsyntax-only "$work/one.c" 2>/dev/null; then
    fail "$name is not deprecated"
  fi
done

# A program with functions of its own.
cat >"$work/own.c" <<'END'
#include <mpi.h>
int MPI_Comm_c2f(MPI_Comm comm);
int MPI_Comm_c2f(MPI_Comm comm) { return MPI_Comm_toint(comm) + 1; }
int MPI_Address(void* location, MPI_Aint* address);
int MPI_Address(void* location, MPI_Aint* address) { return MPI_Get_address(location, address); }
END
out='-DFULMAR_NO_FORTRAN_HANDLES -DFULMAR_NO_REMOVED_NAMES'
$cc $strict $out -c "$work/own.c" -o "$work/own.o" || fail "left out, a program's own functions do not compile"
for name in MPI_Comm_c2f MPI_Address; do
  nm -g --defined-only "$work/own.o" | grep -q " $name\$" || fail "the program's $name is not its own"
done
if $cc -w "-I$include" -fsyntax-only "$work/own.c" 2>/dev/null; then
  fail "the functions are missing without the macros"
fi
# Build scripts that already rename what other libraries lack.
renamed='-DMPI_Address=MPI_Get_address -DMPI_Type_hvector=MPI_Type_create_hvector
  -DMPI_Type_hindexed=MPI_Type_create_hindexed -DMPI_Type_struct=MPI_Type_create_struct
  -DMPI_Errhandler_create=MPI_Comm_create_errhandler -DMPI_Errhandler_get=MPI_Comm_get_errhandler
  -DMPI_Errhandler_set=MPI_Comm_set_errhandler -DMPI_Handler_function=MPI_Comm_errhandler_function
  -DMPI_LB=MPI_DATATYPE_NULL -DMPI_UB=MPI_DATATYPE_NULL -DMPI_Fint=int'
$cc $strict $renamed -fsyntax-only "$work/plain.c" || fail "names that are macros already"
# Left out of mpi.h, they can be had one by one, also ahead of mpi.h.
printf '#include "fulmar/mpi_removed.h"\n#include <mpi.h>\nint i = MPI_COMBINER_STRUCT_INTEGER;\nMPI_Fint x;\n' \
  >"$work/apart.c"
if $cc $out "-I$include" -fsyntax-only "$work/apart.c" 2>/dev/null; then fail "MPI_Fint is not left out"; fi
sed -i 1s/removed/fortran_handles/ "$work/apart.c"
sed -i 's/^int i.*//' "$work/apart.c"
$cc $out $strict -fsyntax-only "$work/apart.c" || fail "a header of its own"

# What configure scripts ask: the size of MPI_Fint, by default and as told.
for pair in 4: 8:-DMPI_ABI_Fint=long; do
  printf '#include <mpi.h>\nint size[sizeof(MPI_Fint) == %s ? 1 : -1];\n' "${pair%%:*}" >"$work/size.c"
  $cc "-I$include" ${pair#*:} -fsyntax-only "$work/size.c" || fail "the size of MPI_Fint"
  $cc "-I$include" ${pair#*:} -Wall -Wextra -Werror -Wno-cast-function-type -Wno-deprecated-declarations \
    -fsyntax-only "$work/use.c" || fail "MPI_Fint of ${pair%%:*} bytes"
done
echo "$(echo $handles $removed | wc -w) functions, 7 language standards"
