#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: check_cxx.py LIBRARY MPIEXEC

Compares libmpicxx.so.12 with that of an MPICH or Intel MPI, where one is installed: FULMAR_MPICH_CXX names its folder, with
lib/libmpicxx.so.12 and include/mpicxx.h, else it is looked for where Debian has it and in the folder of this Python
(pip install impi-rt impi-devel). Names, sizes of objects and places of virtual functions must be the same; then
cxx/mpich_classes.cc is compiled with the other header, linked to the other library and run on this one. Skips without one.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ['FULMAR_SOURCE_DIR'])
_MACHINE = 'usr/lib/x86_64-linux-gnu'
_DEBIAN = '/usr/include/x86_64-linux-gnu/mpich'


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def find_mpich():
    """(libmpicxx.so.12, the C library, folder of the header) of the other MPI."""
    named = os.environ.get('FULMAR_MPICH_CXX')
    root = pathlib.Path(named or sys.prefix)
    places = [(root / 'lib/libmpicxx.so.12', root / 'lib/libmpi.so.12', root / 'include')]
    if not named:
        places.append((pathlib.Path(f'/{_MACHINE}/libmpichcxx.so.12'), pathlib.Path(f'/{_MACHINE}/libmpich.so.12'), pathlib.Path(_DEBIAN)))
    for library, c_library, headers in places:
        if library.exists() and (headers / 'mpicxx.h').exists():
            return library, c_library, headers
    print(f'skipped: no libmpicxx.so.12 with its mpicxx.h in {places[0][0].parent}; FULMAR_MPICH_CXX names another folder')
    sys.exit(77)


def symbols_of(library):
    """Address, size and whether weak, of what the bindings define; Intel's file offsets are `long long`."""
    found = {}
    for line in run('readelf', '-W', '--dyn-syms', library).splitlines():
        words = line.split()
        if len(words) >= 8 and words[7].startswith(('_ZN3MPI', '_ZNK3MPI', '_ZTVN3MPI')) and words[6] != 'UND':
            found[words[7].split('@')[0]] = (int(words[1], 16), int(words[2], 0), words[3], words[4] == 'WEAK')
    return found


def tables_of(library, symbols):
    """The virtual functions of each class in order; destructors, which may be local, left out."""
    at = {}
    for line in run('readelf', '-W', '-r', library).splitlines():
        words = line.split()
        if 'R_X86_64_64' in line and len(words) >= 5:
            at[int(words[0], 16)] = words[4].split('@')[0]
    for name, (address, size, _, _) in symbols.items():
        if name.startswith('_ZTV'):
            slots = [at.get(address + place, '') for place in range(32, size, 8)]
            yield name, [re.sub(r'(?<=[a-zA-Z])E(R?)x', r'E\1l', slot) for slot in slots]


def differences(ours, theirs):
    our_symbols, their_symbols = symbols_of(ours), symbols_of(theirs)
    for name, (_, size, kind, weak) in their_symbols.items():
        if not weak and name not in our_symbols:
            yield f'{name} is missing'
        elif not weak and kind == 'OBJECT' and our_symbols[name][1] != size:
            yield f'{name} has {our_symbols[name][1]} bytes, programs expect {size}'
    tables = dict(tables_of(ours, our_symbols))
    for name, slots in tables_of(theirs, their_symbols):
        if tables.get(name) != slots:
            yield f'{name}: {tables.get(name)}, programs expect {slots}'


def run_program(mpiexec, library, c_library, headers):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / 'program'
        subprocess.run([os.environ.get('CXX', 'c++'), '-std=c++20', '-O1', '-w', '-DMPICH_HEADER', f'-I{headers}',
                        f'-I{SOURCE}/tests/mpi', SOURCE / 'tests/compat/cxx/mpich_classes.cc', '-o', program, library, c_library,
                        '-Wl,--unresolved-symbols=ignore-in-shared-libs'], check=True)
        environment = {name: value for name, value in os.environ.items() if not name.startswith('FULMAR_')}
        return subprocess.run([mpiexec, '-n', '2', program], check=False, cwd=folder, timeout=60, env=environment).returncode


def main():
    ours, mpiexec = sys.argv[1:]
    library, c_library, headers = find_mpich()
    errors = list(differences(ours, str(library)))
    print(*errors, sep='\n')
    code = run_program(mpiexec, library, c_library, headers)
    print(f'{library}: {len(errors)} differences; the program ended with {code}')
    return 1 if errors or code else 0


sys.exit(main())
