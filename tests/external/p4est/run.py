# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds p4est with Fulmar's compiler and runs its tests, above all those that save forests and load them again.

usage: run.py [--ranks N...] [--all] [--folder FOLDER]     (default: 1, 2 and 4 ranks, a temporary folder)

P4EST_SOURCE names a folder with the sources and libsc in its folder sc (2.2 or later; `apt-get source p4est` has
them, and wants autoconf, automake and libtool). --all also runs the tests that open no file.
"""

import argparse
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

# Written with MPI-IO, read again and compared with what is in memory, in 2, 3 and 2+1 dimensions. The first two are
# not in the makefiles of every version.
LOADSAVE = {2: "test/loadsave2", 3: "test/loadsave3"}
LAYERED = "test/p6est_test_all"


def build():
    """The folder in which it was built."""
    source = sources.folder("P4EST_SOURCE", "p4est", "test/test_loadsave2.c")
    if not (source / "sc" / "src" / "sc_io.c").exists():
        support.skip(f"P4EST_SOURCE={source} has no libsc in its folder sc")
    # Without git their scripts take the version from a file.
    version = "for folder in . sc; do [ -e $folder/.tarball-version ] || echo 2.2 >$folder/.tarball-version; done"
    commands = [["sh", "-c", version], ["./bootstrap"],
                ["./configure", "--enable-mpi", "--enable-mpiio", "--disable-shared", "--without-blas", "CC=mpicc",
                 "CFLAGS=-O1 -w"],
                ["make", "-j2"], ["make", "-j2", "check", "TESTS="]]
    for dimension, program in LOADSAVE.items():
        commands.append(["mpicc", "-O1", "-w", "-Isrc", "-Isc/src", f"test/test_loadsave{dimension}.c", "-o", program,
                         "src/.libs/libp4est.a", "sc/src/.libs/libsc.a", "-lz", "-lm"])
    return sources.build("p4est", source, commands)


def judge(status, folder, marks):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    saved = [file for mark in marks for file in pathlib.Path(folder).glob(mark) if file.stat().st_size > 0]
    return "nothing was saved" if marks and not saved else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--folder", help="where the files are written")
    arguments = parser.parse_args()
    built = build()
    jobs = [(LOADSAVE[2], [], ["*.p4p"]), (LOADSAVE[3], [], ["*.p8p"]), (LAYERED, ["-P", "saved"], ["saved"])]
    if arguments.all:
        others = sorted(file for file in (built / "test").glob("p[48]est_test_*") if file.suffix == "")
        jobs += [(file.relative_to(built), [], []) for file in others]
    table = sources.Table()
    for ranks in arguments.ranks:
        for program, words, marks in jobs:
            with tempfile.TemporaryDirectory(prefix="fulmar-p4est-", dir=arguments.folder) as folder:
                command = [built / program, *words]
                status, output, seconds = support.mpiexec(ranks, command, 300, support.clean_environment(), folder)
                table.add(f"{pathlib.Path(program).name} {ranks} ranks", judge(status, folder, marks), seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
