# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds MP_Lite's module for VIA, a program of 1998, with Fulmar's vipl.h and runs its ping-pong over VIPL.

usage: run.py [--fabric shm tcp...]

NETPIPE_SOURCE names a folder with the sources of NetPIPE 5 (github.com/xosevp/netpipe-5.x), which hold MP_Lite. It tells
its processes apart by the names of their hosts, so each runs in a name space of its own for host names (unshare --uts,
which needs root), with its rank as the name: VipNSGetHostByName takes that. What is built is a copy in which the module
has the limit of messages that the rest of the sources have. The numbers say nothing about speed.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

RANKS = 2
# As C was: what is not declared returns an int, and a variable may be defined in several files.
C = ["cc", "-std=gnu89", "-fcommon", "-O1", "-w"]
DECLARATIONS = [word for header in ("malloc", "stdlib", "string", "unistd") for word in ("-include", f"{header}.h")]
FILES = ["via", "mpcore", "timer", "memory", "io", "utils", "copy", "lock", "fifo", "remap", "shm", "mpi_wrappers",
         "signals"]
# Of the module for TCP, which is left out.
SIGNALS = "void Block_Signals(void) {}\nvoid Unblock_Signals(void) {}\n"
SIZES = [0] + [8 << i for i in range(18)]


def commands():
    include = support.BUILD / "include"
    library = support.BUILD / "lib"
    module = [*C, *DECLARATIONS, "-c", "-D_REENTRANT", "-DVIA_FILE", "-DGIGANET", f"-I{include}"]
    return [["sed", "-i", "s/define MAX_MSGS .*/define MAX_MSGS 20000/", "MP_Lite/via.h"],
            ["sh", "-c", f"printf '{SIGNALS}' > MP_Lite/signals.c".replace("\n", "\\n")],
            *([*module, f"MP_Lite/{name}.c", "-o", f"MP_Lite/{name}.o"] for name in FILES),
            ["ar", "cr", "MP_Lite/libmplite.a", *(f"MP_Lite/{name}.o" for name in FILES)],
            [*C, "MP_Lite/pong.c", "-o", "pong", "-IMP_Lite", "MP_Lite/libmplite.a", "-Wl,-z,muldefs", f"-L{library}",
             f"-Wl,-rpath,{library}", "-lvipl", "-lpthread", "-lm"]]


def judge(status, output):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    measured = [int(size) for size in re.findall(r"^ *(\d+) bytes took", output, re.M)]
    return "" if measured[:len(SIZES)] == SIZES else f"measured sizes {measured}, expected {SIZES}"


def run(binary, fabric, table):
    with tempfile.TemporaryDirectory(prefix="fulmar-mp-lite-") as name:
        folder = pathlib.Path(name)
        nodes = "".join(f"{rank} {rank}\n" for rank in range(RANKS))
        (folder / ".mplite.config").write_text(f"{RANKS}\n1\npong\n{nodes}")
        command = ["unshare", "--uts", "sh", "-c", f"hostname $FULMAR_RANK && exec {binary}"]
        environment = support.clean_environment(FULMAR_FABRIC=fabric)
        status, output, seconds = support.mpiexec(RANKS, command, 120, environment, folder)
    table.add(f"MP_Lite's pong over VIPL, {fabric}", judge(status, output), seconds, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fabric", nargs="+", default=["shm", "tcp"])
    arguments = parser.parse_args()
    source = sources.folder("NETPIPE_SOURCE", "NetPIPE", "MP_Lite/via.c")
    if subprocess.run(["unshare", "--uts", "true"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        support.skip("a name space for host names needs root")
    binary = sources.build("mp_lite", source, commands()) / "pong"
    table = sources.Table()
    for fabric in arguments.fabric:
        run(binary, fabric, table)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
