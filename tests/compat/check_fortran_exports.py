#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: check_fortran_exports.py LIBRARY EXPORTS

A Fortran library for another ABI has each function of the C library's EXPORTS under the names that compilers give it, but
what is for C alone, and calls C by PMPI_ names.
"""

import re
import subprocess
import sys

C_ONLY = re.compile(r'MPI_T_|.*_(c2f|f2c|fromint|toint|c2f08|f082c|f2f08|f082f|c)$|MPI_Abi_|MPI_Pcontrol$')


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main():
    library, exports = sys.argv[1:]
    defined = {line.split()[-1] for line in run('nm', '-D', '--defined-only', library).splitlines()}
    errors = []
    count = 0
    for line in open(exports).read().splitlines():
        name = line.split()[0]
        if not name.startswith('MPI_') or name.upper() == name or C_ONLY.match(name):
            continue
        for prefix in ('', 'P'):
            lower = (prefix + name).lower()
            names = [lower, f'{lower}_', f'{lower}__', lower.upper()]
            count += len(names)
            errors += [f'{name} is missing' for name in names if name not in defined]
    for name in run('nm', '-D', '--undefined-only', library).split():
        if re.match(r'MPI_', name) and not re.match(r'MPI_(F_|F08_|UNWEIGHTED|WEIGHTS_EMPTY)', name):
            errors.append(f'{name} is called, which a tool may have taken over')
    for needed in re.findall(r'NEEDED.*\[(.*)\]', run('readelf', '-d', library)):
        if re.match(r'libstdc|libgcc|libmpi_abi|libgfortran', needed):
            errors.append(f'{needed} is needed')
    print(*errors, sep='\n')
    print(f'{count} names wanted, {len(errors)} errors')
    return 1 if errors or count < 1000 else 0


sys.exit(main())
