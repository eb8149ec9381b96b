# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds netgauge with its module for SISCI and runs it: MPI starts the job and SISCI moves the messages.

usage: run.py

NETGAUGE_SOURCE names a folder with its sources (github.com/spcl/netgauge). What is built is a copy in which the module
declares a function before it calls it, knows the minimum by the name that netgauge has for it, and gathers in place what it
gathered with the same buffer twice, which MPI refuses. It stores to segments of other nodes, so all nodes are on one host.
The pattern 1toN is left out: it tests requests again that have ended, which this module has freed by then.
The numbers say nothing about speed.
"""

import argparse
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

RANKS = 2
CORRECTIONS = ["s/^static inline int my_init(.*);/&\\nstatic inline int my_setup_channels(void);/",
               r"s/\bmin(/ng_min(/",
               "s/MPI_Allgatherv(&.*sci_id, 1, MPI_INT/MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_INT/"]
# How the module writes to the other node; the last is the program's own loop of stores.
WAYS = ["SCIMemCpy", "SCIMemWrite", "SCITransferBlock", "memcpy"]
# With requests, so by DMA queues.
PATTERNS = ["Nto1", "nbov"]
SIZES = "1-8192"
SIZES_MEASURED = 26  # of these


def commands():
    library = support.BUILD / "lib"
    flags = "-O1 -w -std=gnu99 -fcommon"
    configure = ["./configure", "--with-sisci", "CC=mpicc", "CXX=mpicxx", f"CFLAGS={flags}", "CXXFLAGS=-O1 -w -fpermissive",
                 f"CPPFLAGS=-I{support.BUILD / 'include'}", f"LDFLAGS=-L{library} -Wl,-rpath,{library}"]
    return [["sed", "-i", *(word for each in CORRECTIONS for word in ("-e", each)), "mod_sci.c"],
            ["touch", "aclocal.m4", "Makefile.in", "configure", "config.h.in"],
            configure, ["grep", "-q", "define NG_MOD_SCI", "config.h"], ["make"]]


def judge(status, output):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    measured = len(re.findall(r"^\d+ bytes\s+->|^\d+ .* \| ", output, re.M))
    return "" if measured == SIZES_MEASURED else f"{measured} sizes were measured, expected {SIZES_MEASURED}"


def run(binary, pattern, way, table):
    with tempfile.TemporaryDirectory(prefix="fulmar-netgauge-") as name:
        command = [binary, "-s", SIZES, "-c", "20", "-x", pattern, "-m", "sci", "-P", way]
        status, output, seconds = support.mpiexec(RANKS, command, 60, None, name)
    table.add(f"netgauge, {pattern} by {way}", judge(status, output), seconds, output)


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    source = sources.folder("NETGAUGE_SOURCE", "netgauge", "mod_sci.c")
    binary = sources.build("netgauge", source, commands()) / "netgauge"
    table = sources.Table()
    for way in WAYS:
        run(binary, "one_one", way, table)
    for pattern in PATTERNS:
        run(binary, pattern, WAYS[0], table)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
