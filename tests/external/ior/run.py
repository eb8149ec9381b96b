# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds IOR with Fulmar's compiler and runs it through MPI-IO; it compares every byte that it reads.

usage: run.py [--ranks N...] [--folder FOLDER]     (default: 2 and 4 ranks, the folder for temporary files)

IOR_SOURCE names a folder with the sources (github.com/hpc/ior, 3.3 or later; its bootstrap needs automake and
libtool). Each line of plan.txt is a job, run as it is and with the two-phase method forced. The numbers say
nothing about speed.
"""

import argparse
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

PLAN = pathlib.Path(__file__).resolve().parent / "plan.txt"
TWO_PHASES = "romio_cb_write enable\nromio_cb_read enable\ncb_buffer_size 65536\n"


def read_plan():
    lines = (line.split("#")[0].strip() for line in PLAN.read_text().splitlines())
    return [line.split() for line in lines if line]


def judge(status, output):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    wrong = re.search(r"^.*(incorrect data|error).*$", output, re.M | re.I)
    if wrong:
        return wrong[0].strip()
    lacking = [phase for phase in ("write", "read") if not re.search(rf"^{phase} +\d", output, re.M)]
    return f"no result of {' '.join(lacking)}" if lacking else ""


def run(binary, ranks, words, hints, parent, table):
    with tempfile.TemporaryDirectory(prefix="fulmar-ior-", dir=parent) as folder:
        environment = support.clean_environment()
        if hints:
            file = pathlib.Path(folder) / "hints"
            file.write_text(TWO_PHASES)
            environment["ROMIO_HINTS"] = str(file)
        command = [binary, "-a", "MPIIO", "-w", "-r", "-W", "-R", "-o", f"{folder}/data", *words]
        status, output, seconds = support.mpiexec(ranks, command, 300, environment, folder)
    title = f"ior {ranks} ranks {' '.join(words)}{', two phases' if hints else ''}"
    table.add(title, judge(status, output), seconds, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--folder", help="where the files are written")
    arguments = parser.parse_args()
    source = sources.folder("IOR_SOURCE", "IOR", "src/aiori-MPIIO.c")
    commands = [["./bootstrap"], ["./configure", "MPICC=mpicc", "CC=mpicc", "CFLAGS=-O1 -w"], ["make", "-j2"]]
    binary = sources.build("ior", source, commands) / "src" / "ior"
    table = sources.Table()
    for ranks in arguments.ranks:
        for words in read_plan():
            for hints in (False, True) if "-c" in words else (False,):
                run(binary, ranks, words, hints, arguments.folder, table)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
