#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: check_exports.py LIBRARY EXPORTS

The library exports the names of EXPORTS, without a version, as a function and a weak alias of it, the
names fulmar_* and those of mpi-ext.h (MPIX_*, PMPIX_*) in one private version node, and nothing else;
it leaves no C++ name to others.
"""

import re
import subprocess
import sys


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    library, exports = sys.argv[1:]
    errors = []
    defined = {}
    for line in run('nm', '-D', '--defined-only', library).splitlines():
        address, kind, name = line.split()
        defined[name] = (kind, address)
    wanted = set(open(exports).read().split())
    private = {name for name in defined if name.startswith(('fulmar_', 'MPIX_', 'PMPIX_'))}
    # clang and gcc sanitizers add names of their own; they are not part of a release.
    others = {name for name in defined if not name.startswith(('__asan', '__ubsan', '__tsan', '__odr'))}
    for name in sorted(wanted - set(defined)):
        errors.append(f'{name} is not exported')
    for name in sorted(others - wanted - private - {'FULMAR_1'}):
        errors.append(f'{name} is exported, but is not in spec/')
    for name in sorted(private):
        if not name.endswith('@@FULMAR_1'):
            errors.append(f'{name} is not in the version node FULMAR_1')
    for name in sorted(n for n in defined if n in wanted and n.startswith('MPI_') or n.startswith('MPIX_')):
        kind, address = defined[name]
        if kind != 'W' or defined.get('P' + name, ('', ''))[1] != address:
            errors.append(f'{name} is no weak alias of P{name}')
    for line in run('nm', '-D', '--undefined-only', library).splitlines():
        kind, name = line.split()
        if kind == 'U' and re.match(r'_Z|__cxa|__gxx|_Unwind', name) and 'GLIBC' not in name:
            errors.append(f'{name} is left to a C++ library of others')
    dynamic = run('readelf', '-d', library)
    if 'Library soname: [libmpi_abi.so.1]' not in dynamic:
        errors.append('the soname is not libmpi_abi.so.1')
    for needed in re.findall(r'NEEDED.*\[(.*)\]', dynamic):
        if re.match(r'libstdc|libgcc|libc\+\+|libmpi', needed):
            errors.append(f'{needed} is needed')
    print(*errors, sep='\n')
    print(f'{len(defined)} names exported, {len(errors)} errors')
    return 1 if errors else 0


sys.exit(main())
