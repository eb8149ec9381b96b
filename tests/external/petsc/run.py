# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds PETSc with Fulmar's compilers, runs its `make check`, and those of its own tests whose viewers use MPI-IO.

usage: run.py [--query WORDS | --search NAMES...]

--query: what the arguments of the tests hold (*mpiio*). --search: names of tests, one % in each for any letters; all those of sys, vec,
mat and ksp are sys_% vec_% mat_% ksp_%, some thousand jobs.

PETSC_SOURCE names a folder with the sources (3.18 or later; `apt-get source petsc` has them). BLAS and LAPACK have to be
installed (libopenblas-dev), and gfortran: its tests in Fortran are among them. PETSc compares the output of each test with its own; the numbers of ranks, 1 to 5,
are those of the tests. It is built without optimization, which takes ten minutes on two cores instead of an hour.
"""

import argparse
import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

ARCH = "fulmar"
LEAST_CHECKS = 3
# They draw, and say that there is no X: PETSc does not know that of them.
DRAWING = ("vec_vec_tutorials-ex3_1", "vec_vec_tutorials-ex3f_1")
LEAST_TESTS = 40  # in 3.18 there are 30 with MPI-IO, and 27 without it beside them


def build():
    """The folder in which it was built."""
    source = sources.folder("PETSC_SOURCE", "PETSc", "src/sys/classes/viewer")
    sources.needs("make")
    sources.needs_fortran()
    configure = ["python3", "./configure", f"PETSC_ARCH={ARCH}", "--with-cc=mpicc", "--with-cxx=0", "--with-fc=mpifort",
                 f"--with-mpiexec={support.BIN}/mpiexec", "--with-debugging=0", "--with-x=0",
                 "--with-ssl=0", "--with-shared-libraries=1", "--COPTFLAGS=-O0 -g0", "--FOPTFLAGS=-O0 -g0", "--with-make-np=2",
                 "--with-blaslapack-lib=-lopenblas"]
    make = ["sh", "-c", f"make PETSC_DIR=$PWD PETSC_ARCH={ARCH} all"]
    return sources.build("petsc", source, [configure, make], 7200)


def check(built, environment, table):
    """Three programs, one of them in Fortran, whose output PETSc compares with what it knows; any difference is printed."""
    status, output, seconds = support.run(["make", "-C", built, "check"], 900, environment)
    done = re.findall(r"example src/\S+ run successfully", output)
    problem = f"exit status {status}" if status else ""
    if not problem and (len(done) < LEAST_CHECKS or "Possible error" in output or not any("ex5f" in line for line in done)):
        problem = "a program of the check failed"
    table.add(f"petsc, make check: {len(done)} jobs", problem, seconds, output)


def run_tests(built, environment, which, table):
    """Those that `which` selects."""
    command = ["make", "-C", built, "-f", "gmakefile.test", "test", *which, "TIMEOUT=300"]
    status, output, seconds = support.run(command, 3 * 3600, environment)
    passed = re.findall(r"^ *ok (?!diff-)(?!.*# SKIP)(\S+)", output, re.M)
    failed = [line for line in re.findall(r"^ *not ok (.*)", output, re.M)
              if line.split()[0].removeprefix("diff-") not in DRAWING]
    problem = ""
    if failed:
        problem = f"failed: {'; '.join(failed)}"
    elif status != 0 and "not ok" not in output:
        problem = f"exit status {status}"
    elif len(passed) < LEAST_TESTS:
        problem = f"only {len(passed)} tests ran"
    table.add(f"petsc {which[-1]}: {len(passed)} tests passed", problem, seconds, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--query", default="*mpiio*")
    parser.add_argument("--search", nargs="+")
    arguments = parser.parse_args()
    built = build()
    # Debian's sources leave out of programs where PETSc's library is.
    environment = support.clean_environment(PATH=f"{support.BIN}:{os.environ['PATH']}", PETSC_DIR=built, PETSC_ARCH=ARCH,
                                            LD_LIBRARY_PATH=built / ARCH / "lib")
    table = sources.Table()
    check(built, environment, table)
    which = ["query=args", f"queryval={arguments.query}"]
    if arguments.search:
        which = [f"gmakesearch={' '.join(arguments.search)}"]
    run_tests(built, environment, which, table)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
