#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: check_exports.py LIBRARY EXPORTS

A library for another ABI exports the names of EXPORTS and nothing else. A line has a name, and the bytes of an
object of the ABI behind it: programs have copies of these.
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
    for line in run('nm', '-D', '-S', '--defined-only', library).splitlines():
        _, size, kind, name = line.split()
        defined[name] = (int(size, 16), kind)
    wanted = dict((line.split() + ['0'])[:2] for line in open(exports).read().splitlines())
    errors += [f'{name} is not exported' for name in sorted(set(wanted) - set(defined))]
    errors += [f'{name} is exported, but is not in the tables' for name in sorted(set(defined) - set(wanted))]
    for name, size in wanted.items():
        if size != '0' and name in defined and defined[name][0] != int(size):
            errors.append(f'{name} has {defined[name][0]} bytes, programs expect {size}')
    for name in run('nm', '-D', '--undefined-only', library).split():
        if re.match(r'P?MPI', name):
            errors.append(f'{name} is called by name, which would be this library\'s own')
    for needed in re.findall(r'NEEDED.*\[(.*)\]', run('readelf', '-d', library)):
        if re.match(r'libstdc|libgcc|libmpi', needed):
            errors.append(f'{needed} is needed')
    print(*errors, sep='\n')
    print(f'{len(defined)} names exported, {len(errors)} errors')
    return 1 if errors else 0


sys.exit(main())
