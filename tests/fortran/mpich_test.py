# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: mpich_test.py FOLDER PROGRAM...

libmpifort_abi runs over another library of the standard ABI: programs of these tests, as they are, with the libmpi_abi.so.1 and the
mpiexec of the MPICH 5 in FOLDER (pip install mpich). Skips without one.
"""

import os
import pathlib
import subprocess
import sys


def main():
    folder, programs = pathlib.Path(sys.argv[1]), sys.argv[2:]
    if not (folder / 'lib' / 'libmpi_abi.so.1').exists():
        print(f'skipped: no libmpi_abi.so.1 in {folder}/lib')
        return 77
    environment = {name: value for name, value in os.environ.items() if not name.startswith('FULMAR_')}
    environment['LD_LIBRARY_PATH'] = f'{folder}/lib'
    listed = subprocess.run(['ldd', programs[0]], env=environment, capture_output=True, text=True, check=True).stdout
    failures = 0 if f'{folder}/lib/libmpi_abi.so.1' in listed else 1
    if failures:
        print(f'{programs[0]} would not run on MPICH:\n{listed}')
    for program in programs:
        done = subprocess.run([folder / 'bin' / 'mpiexec', '-n', '2', program], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60, check=False)
        if done.returncode != 0:
            failures += 1
            print(f'{program} ended with {done.returncode}:\n{done.stdout}{done.stderr}')
    print(f'{len(programs)} programs, {failures} failures')
    return 1 if failures else 0


sys.exit(main())
