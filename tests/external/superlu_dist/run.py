# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds SuperLU_DIST with its Fortran interface and runs its own tests, and its examples in Fortran.

usage: run.py [--ranks N...]     (default: 2 4)

SUPERLU_DIST_SOURCE names a folder with the sources (9 or later, as in the repository of its authors). CMake, gfortran and OpenBLAS (libopenblas-dev) have to be
installed. Without ParMETIS, in real and complex double precision. The tests compare residuals with a threshold themselves; the
Fortran examples print backward errors, which have to be near the machine's precision.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

GRIDS = {1: (1, 1), 2: (1, 2), 4: (2, 2), 6: (2, 3), 8: (2, 4)}
# By their numbers of ranks, which are in their sources, as their files are.
# Not f_pddrive3d: it aborts in free when it has solved the system, with MPICH 5.0.2, too; nor f_pzdrive3d, which is made of it.
FORTRAN = {2: ("f_5x5",), 4: ("f_pddrive", "f_pzdrive")}
LARGEST_ERROR = 1e-12


def build():
    """The folder with the programs."""
    source = sources.folder("SUPERLU_DIST_SOURCE", "SuperLU_DIST", "SRC/include/superlu_defs.h")
    sources.needs("cmake", "make")
    sources.needs_fortran()
    configure = ["cmake", "-S", ".", "-B", "built", "-DCMAKE_C_COMPILER=mpicc", "-DCMAKE_CXX_COMPILER=mpicxx",
                 "-DCMAKE_Fortran_COMPILER=mpifort", "-DTPL_ENABLE_PARMETISLIB=OFF", "-DTPL_BLAS_LIBRARIES=-lopenblas",
                 "-Denable_single=OFF", "-Denable_openmp=OFF", "-Denable_python=OFF", "-DXSDK_ENABLE_Fortran=ON",
                 "-DBUILD_SHARED_LIBS=OFF", "-DBUILD_STATIC_LIBS=ON", "-DCMAKE_BUILD_TYPE=",
                 "-DCMAKE_C_FLAGS=-O1 -w", "-DCMAKE_CXX_FLAGS=-O1 -w", "-DCMAKE_Fortran_FLAGS=-O1 -w"]
    programs = ["pdtest", "pddrive", "pddrive3d", "pzdrive", "f_pddrive", "f_pzdrive", "f_5x5"]
    compile_all = ["cmake", "--build", "built", "-j2", "--target", *programs]
    return sources.build("superlu_dist", source, [configure, compile_all], 3000)


def judge_test(status, output):
    """What is wrong with a run of pdtest; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    passed = re.search(r"All tests for DGS driver passed the threshold \( *(\d+) tests run\)", output)
    return "" if passed and int(passed[1]) > 0 else "a residual is above the threshold"


def judge_example(status, output):
    """The same of a Fortran example, which solves a system."""
    if status != 0:
        return f"exit status {status}"
    errors = [float(word) for line in re.findall(r"Backward error:(.*)", output) for word in line.split()]
    results = re.findall(r"INFO from f_p\w+ = +(-?\d+)", output)
    if not errors or any(int(word) != 0 for word in results):
        return "no solution"
    return "" if max(errors) < LARGEST_ERROR else f"backward error {max(errors)}"


def judge_drive(status, output):
    """The same of an example in C, which knows the solution."""
    if status != 0:
        return f"exit status {status}"
    errors = [float(word) for word in re.findall(r"\|\|X - Xtrue\|\| / \|\|X\|\| = (\S+)", output)]
    return "" if errors and max(errors) < 1e-8 else f"no solution, or a wrong one: {errors}"


def jobs(built, ranks):
    """(title, command, judge) of all that runs on so many ranks."""
    rows, columns = GRIDS[ranks]
    grid = ["-r", rows, "-c", columns]
    matrices = built / "EXAMPLE"
    test = built / "built" / "TEST" / "pdtest"
    for sides in (1, 3):
        yield (f"pdtest, {sides} right-hand sides",
               [test, *grid, "-s", sides, "-b", 2, "-x", 8, "-m", 20, "-f", matrices / "g20.rua"], judge_test)
    examples = built / "built" / "EXAMPLE"
    yield "pddrive", [examples / "pddrive", *grid, matrices / "big.rua"], judge_drive
    yield "pddrive3d", [examples / "pddrive3d", *grid, "-d", 1, matrices / "big.rua"], judge_drive
    yield "pzdrive", [examples / "pzdrive", *grid, matrices / "cg20.cua"], judge_drive
    for name in FORTRAN.get(ranks, ()):
        yield name, [built / "built" / "FORTRAN" / name], judge_example


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4], choices=GRIDS)
    arguments = parser.parse_args()
    built = build()
    environment = support.clean_environment(OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1")
    table = sources.Table()
    for ranks in arguments.ranks:
        for title, command, judge in jobs(built, ranks):
            status, output, seconds = support.mpiexec(ranks, command, 300, environment, built / "FORTRAN")
            table.add(f"{title}, {ranks} ranks", judge(status, output), seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
