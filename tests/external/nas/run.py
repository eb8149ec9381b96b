# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds the NAS Parallel Benchmarks 3.4 for MPI as they are and runs them; each checks its own result.

usage: run.py [--ranks N...] [--classes S W A]     (default: 1 2 4, classes S W)

NPB_SOURCE names a folder with the sources (NPB3.4.x, its folder NPB3.4-MPI or what holds it). Seven of the
eight are Fortran, IS is C; BT is built once more with output through MPI-IO (full and simple) and checks
what it has read again. BT and SP want a square number of ranks. With NPB_LAUNCH (words in place of mpiexec
and its options) and NPB_MPICC, NPB_MPIFC the same programs run on another library, so that times can be put side by side.
"""

import argparse
import os
import pathlib
import re
import shlex
import shutil
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

PROGRAMS = ("is", "ep", "cg", "mg", "ft", "lu", "sp", "bt")
SQUARES = {1, 4, 9, 16}
SUBTYPES = ("full", "simple")  # of BT with MPI-IO

MAKE_DEF = """\
MPIFC = {fortran}
FLINK = $(MPIFC)
FFLAGS = -O2 -w -fallow-argument-mismatch
FLINKFLAGS = $(FFLAGS)
MPICC = {c}
CLINK = $(MPICC)
CFLAGS = -O2 -w
CLINKFLAGS = $(CFLAGS)
CC = cc
BINDIR = ../bin
RAND = randdp
"""


def programs(classes):
    """(program, class, subtype) of all that is built."""
    plain = [(program, size, "") for size in classes for program in PROGRAMS]
    return plain + [("bt", size, subtype) for size in classes for subtype in SUBTYPES]


def file_of(program, size, subtype):
    return f"{program}.{size}.x" + (f".mpi_io_{subtype}" if subtype else "")


def build(source, classes):
    """The folder with the programs."""
    fortran, c = os.environ.get("NPB_MPIFC", "mpifort"), os.environ.get("NPB_MPICC", "mpicc")
    write = f"cat > config/make.def <<'END'\n{MAKE_DEF.format(fortran=fortran, c=c)}END\nmkdir -p bin"
    commands = [["sh", "-c", write]]
    for program, size, subtype in programs(classes):
        commands.append(["make", program.upper(), f"CLASS={size}", f"SUBTYPE={subtype}"])
    name = "nas" if c == "mpicc" else f"nas-{pathlib.Path(c).resolve().parent.parent.name}"
    return sources.build(name, source, commands)


def judge(status, output):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    if not re.search(r"Verification\s*=\s*SUCCESSFUL", output, re.I):
        return "the result was not verified"
    return ""


def run(ranks, program, folder):
    launch = os.environ.get("NPB_LAUNCH")
    if launch:
        command = [*shlex.split(launch), "-n", str(ranks), program]
        return support.run(command, 600, dict(os.environ), folder)
    return support.mpiexec(ranks, [program], 600, support.clean_environment(), folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--classes", nargs="+", default=["S", "W"], choices=list("SWABC"))
    arguments = parser.parse_args()
    if not shutil.which(os.environ.get("FULMAR_FC", "gfortran")):
        support.skip("there is no gfortran (or FULMAR_FC)")
    source = sources.folder("NPB_SOURCE", "NPB 3.4", ".")
    if (source / "NPB3.4-MPI").exists():
        source = source / "NPB3.4-MPI"
    if not (source / "sys" / "setparams.c").exists():
        sys.exit(f"NPB_SOURCE={source} holds no sys/setparams.c, so it is not the source folder of NPB 3.4 for MPI")
    folder = build(source, arguments.classes) / "bin"
    table = sources.Table()
    for ranks in arguments.ranks:
        for program, size, subtype in programs(arguments.classes):
            if program in ("sp", "bt") and ranks not in SQUARES:
                continue
            name = file_of(program, size, subtype)
            status, output, seconds = run(ranks, folder / name, folder)
            time = re.search(r"Time in seconds\s*=\s*([\d.]+)", output)
            own = f" ({time[1]} s by its own clock)" if time else ""
            table.add(f"{name} {ranks} ranks{own}", judge(status, output), seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
