# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds PETSc with Fulmar's compiler and runs those of its own tests whose viewers use MPI-IO.

usage: run.py [--query WORDS]     (default: *mpiio*, in the arguments of the tests)

PETSC_SOURCE names a folder with the sources (3.18 or later; `apt-get source petsc` has them). BLAS and LAPACK have to be
installed (libopenblas-dev). PETSc compares the output of each test with its own; the numbers of ranks, 1 to 5,
are those of the tests. It is built without optimization, which takes ten minutes on two cores instead of an hour.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

ARCH = "fulmar"
LEAST_TESTS = 40  # in 3.18 there are 30 with MPI-IO, and 27 without it beside them


def build():
    """The folder in which it was built."""
    source = sources.folder("PETSC_SOURCE", "PETSc", "src/sys/classes/viewer")
    configure = ["python3", "./configure", f"PETSC_ARCH={ARCH}", "--with-cc=mpicc", "--with-cxx=0", "--with-fc=0",
                 f"--with-mpiexec={support.BIN}/mpiexec", "--with-debugging=0", "--with-x=0",
                 "--with-ssl=0", "--with-shared-libraries=0", "--COPTFLAGS=-O0 -g0", "--with-make-np=2",
                 "--with-blaslapack-lib=-lopenblas"]
    make = ["sh", "-c", f"make PETSC_DIR=$PWD PETSC_ARCH={ARCH} all"]
    return sources.build("petsc", source, [configure, make], 7200)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--query", default="*mpiio*")
    arguments = parser.parse_args()
    built = build()
    environment = support.clean_environment(PETSC_DIR=built, PETSC_ARCH=ARCH)
    command = ["make", "-C", built, "-f", "gmakefile.test", "test", "query=args", f"queryval={arguments.query}",
               "TIMEOUT=300"]
    status, output, seconds = support.run(command, 3600, environment)
    passed = re.findall(r"^ *ok (?!diff-)(?!.*# SKIP)(\S+)", output, re.M)
    failed = re.findall(r"^ *not ok (.*)", output, re.M)
    problem = ""
    if failed:
        problem = f"failed: {'; '.join(failed)}"
    elif status != 0:
        problem = f"exit status {status}"
    elif len(passed) < LEAST_TESTS:
        problem = f"only {len(passed)} tests ran"
    table = sources.Table()
    table.add(f"petsc {arguments.query}: {len(passed)} tests passed", problem, seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
