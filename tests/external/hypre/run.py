# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds hypre with its Fortran interface and runs its own checks of solvers and its examples in C and Fortran.

usage: run.py [--all]

HYPRE_SOURCE names a folder with the sources (2.26; `apt-get source hypre` has them). gfortran has to be installed. hypre's script runs
each job on 1 to 16 ranks, as the job files say, and compares residuals and iterations with results that are part of hypre. --all:
all tests of the linear-algebraic, structured and semi-structured interfaces instead of a choice.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

CHOICE = ("TEST_ij/solvers.sh", "TEST_ij/default.sh", "TEST_struct/solvers.sh",
          "TEST_sstruct/solvers.sh")
EXAMPLES = ("TEST_examples/default.sh",)
# Printed digits that differ between compilers and BLAS libraries.
TOLERANCE = "1e-4"


def build():
    """The folder in which it was built."""
    source = sources.folder("HYPRE_SOURCE", "hypre", "src/test/runtest.sh")
    sources.needs("make")
    sources.needs_fortran()
    inside = "cd src && "
    configure = "./configure --enable-fortran --without-openmp CC=mpicc CXX=mpicxx FC=mpifort CFLAGS='-O1 -w' CXXFLAGS='-O1 -w' FFLAGS='-O1 -w'"
    # The name's end is a patch of Debian's, which its own build fills in.
    name = "HYPRE_LIBNAME_EXT="
    return sources.build("hypre", source, [["sh", "-c", inside + configure], ["make", "-C", "src", "-j2", name, "install"],
                                           ["make", "-C", "src/test", "-j2", name, "all"],
                                           ["make", "-C", "src/examples", "-j2", "default", "fortran"],
                                           ["sh", "-c", "cd src/examples && cp ex? ex?? ex12f ../test"]], 3000)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    test = build() / "src" / "test"
    chosen = CHOICE
    if arguments.all:
        chosen = [str(file.relative_to(test)) for name in ("ij", "struct", "sstruct")
                  for file in sorted(test.glob(f"TEST_{name}/*.sh"))]
    launch = " ".join([*support.launch(300), "-n"])
    table = sources.Table()
    for script in (*chosen, *EXAMPLES):
        result = (test / script).with_suffix(".err")
        for old in result.parent.glob(f"{result.stem}.err*"):
            old.unlink()
        command = ["./runtest.sh", "-mpi", launch, "-rtol", TOLERANCE, "-atol", TOLERANCE, script]
        status, output, seconds = support.run(command, 1800, support.clean_environment(), test)
        jobs = len(re.findall(r"^ *mpirun", (test / script).with_suffix(".jobs").read_text(), re.M))
        said = result.read_text() if result.exists() else "no result"
        problem = f"exit status {status}" if status else "differs from hypre's results" if said.strip() else ""
        table.add(f"{script}, {jobs} jobs", problem, seconds, output + said)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
