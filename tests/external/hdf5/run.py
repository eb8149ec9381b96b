# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds HDF5 with Fulmar's compiler and runs its own parallel tests, which compare what they read.

usage: run.py [--ranks N...] [--only PROGRAM...] [--folder FOLDER]   (default: 2 and 4 ranks, a temporary folder)

HDF5_SOURCE names a folder with the sources (1.10.8 or later; `apt-get source hdf5` has them). The library is
installed below the build folder, where the recipe of h5py finds it.
"""

import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

INSTALLED = support.BUILD / "external" / "hdf5" / "installed"
# What each program prints when nothing went wrong; beside the exit status, as some do not report through it.
ENDS = {
    "t_mpi": "finished with no errors",
    "testphdf5": "finished with no errors",
    "t_shapesame": "finished with no errors",
    "t_cache": "finished with no failures",
    "t_cache_image": "finished with no failures",
    "t_pread": "finished with no failures",
    "t_filters_parallel": "All Parallel Filters tests passed",
    "t_pshutdown": "PASSED",
    "t_prestart": "PASSED",
    "t_init_term": "PASSED",
    "t_bigio": "Read Testing Dataset4",
    "t_pflush1": "PASSED",
    "t_pflush2": "PASSED",
}
# Those that want more than two ranks.
LEAST_RANKS = {"t_cache": 3, "t_pread": 3}
# It ends without MPI_Finalize on purpose; the next program looks at what it has left.
UNFINISHED = ("t_pflush1",)


def build():
    """The folder with the test programs."""
    source = sources.folder("HDF5_SOURCE", "HDF5", "testpar/testphdf5.c")
    configure = ["./configure", "CC=mpicc", "--enable-parallel", "--disable-fortran", "--disable-cxx",
                 "--enable-build-mode=production", f"--prefix={INSTALLED}", "CFLAGS=-O1 -w"]
    library = [["make", "-j2", "-C", part, target] for part in ("src", "hl/src") for target in ("all", "install")]
    tests = [["make", "-j2", "-C", "test", "libh5test.la"], ["make", "-j2", "-C", "testpar", *ENDS]]
    commands = [configure, *library, *tests]
    return sources.build("hdf5", source, commands, 3600) / "testpar"


def judge(program, status, output):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0 and program not in UNFINISHED:
        return f"exit status {status}"
    if "*FAILED*" in output or "Parallel ERROR" in output:
        return "a test failed"
    return "" if ENDS[program] in output else f"`{ENDS[program]}` was not printed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--only", nargs="+", choices=ENDS, metavar="PROGRAM")
    parser.add_argument("--folder", help="where the files are written")
    arguments = parser.parse_args()
    programs = build()
    table = sources.Table()
    for ranks in arguments.ranks:
        with tempfile.TemporaryDirectory(prefix="fulmar-hdf5-", dir=arguments.folder) as folder:
            environment = support.clean_environment(HDF5_PARAPREFIX=folder)
            for program in arguments.only or ENDS:
                if ranks < LEAST_RANKS.get(program, 1):
                    continue
                status, output, seconds = support.mpiexec(ranks, [programs / program], 1200, environment, programs)
                table.add(f"{program} {ranks} ranks", judge(program, status, output), seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
