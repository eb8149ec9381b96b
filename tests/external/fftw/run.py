# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds FFTW with MPI and threads, and runs its own checks of distributed transforms.

usage: run.py [--ranks N...]     (default: 1 2 3 4)

FFTW_SOURCE names a folder with the sources (3.3.10; `apt-get source fftw3` has them). FFTW's script draws transforms at random
and compares each with properties that it has to have (linearity, shifts, impulses), so that a wrong result shows.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

TRANSFORMS = 10  # that are drawn for each number of ranks
LARGEST = 10000  # elements


def build():
    """The folder in which it was built."""
    source = sources.folder("FFTW_SOURCE", "FFTW", "mpi/mpi-bench.c")
    sources.needs("perl", "make")
    configure = ["./configure", "--enable-mpi", "--enable-threads", "--disable-doc", "--disable-dependency-tracking",
                 "MPICC=mpicc", "CFLAGS=-O2 -w"]
    # FFTW hands communicators to Fortran as MPI_Fint, if it has found that.
    found = ["grep", "-qx", "#define SIZEOF_MPI_FINT 4", "config.h"]
    return sources.build("fftw", source, [configure, found, ["make", "-j2"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 3, 4])
    arguments = parser.parse_args()
    built = build()
    table = sources.Table()
    for ranks in arguments.ranks:
        for threads in (1, 2):
            job = " ".join([*support.launch(300), "-n", str(ranks), str(built / "mpi" / "mpi-bench")])
            check = ["perl", "-w", built / "tests" / "check.pl", "--verbose", "--random", f"--maxsize={LARGEST}",
                     f"-c={TRANSFORMS}", f"--nthreads={threads}", "--mpi", job]
            status, output, seconds = support.run(check, 900, cwd=built / "mpi")
            drawn = len(re.findall(r"^Executing ", output, re.M))
            problem = f"exit status {status}" if status else ""
            if not problem and (support.STANDSTILL in output or not drawn):
                problem = "a job stood still" if drawn else "nothing was checked"
            table.add(f"fftw {ranks} ranks, {threads} threads", problem, seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
