#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: check_released.py LIBRARY NAMES

The library exports every name of NAMES, with the version node that it had when a program could have been linked to it.
"""

import subprocess
import sys


def main():
    library, names = sys.argv[1:]
    output = subprocess.run(['nm', '-D', '--with-symbol-versions', '--defined-only', library], check=True,
                            capture_output=True, text=True).stdout
    defined = {line.split()[-1].replace('@@', '@') for line in output.splitlines()}
    wanted = [line for line in open(names).read().splitlines() if line and not line.startswith('#')]
    gone = [name for name in wanted if name not in defined]
    for name in gone:
        print(f'{name} was exported by a release and is not any more')
    print(f'{len(wanted)} names of releases, {len(gone)} gone')
    return 1 if gone or len(wanted) < 1000 else 0


sys.exit(main())
