# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds NetPIPE with its SISCI module, a program of the time of SCI, with Fulmar's SISCI, and runs it.

usage: run.py

NETPIPE_SOURCE names a folder with the sources of NetPIPE 5 (github.com/xosevp/netpipe-5.x). The module (src/extras) is of
version 4; driver.c joins it to the main program of version 5. It includes two headers of Dolphin's examples, of which it
uses nothing: the build has empty ones. It finds out which host it is on by ifconfig; here both processes are on one, and
their ranks take that place. The module stores to the other node's memory, so both nodes are on one host. NetPIPE looks
at the bytes that have come (--integrity), and measures; the numbers say nothing about speed.
"""

import argparse
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
RANKS = 2
# The module looks in loops at memory that is not volatile.
C = ["cc", "-std=gnu89", "-fcommon", "-O0", "-w"]
MODULE = ["Init", "Setup", "SendData", "RecvData", "Gather", "Broadcast", "CleanUp"]
LARGEST = 3_000_000  # more than the 2 MiB of the module's queue
# In place of the addresses of the host.
HOSTS = [f"127.0.0.1{rank}" for rank in range(RANKS)]
ADDRESSES = "s,/sbin/ifconfig,echo 127.0.0.1$FULMAR_RANK,"


def commands():
    include, library = support.BUILD / "include", support.BUILD / "lib"
    old = [*C, "-c", "-DSISCI", "-include", "arpa/inet.h", f"-I{include}", "-Iversion4/src"]
    renamed = [word for name in MODULE for word in ("--redefine-sym", f"{name}=module_{name}")]
    kept = [word for name in MODULE for word in ("--keep-global-symbol", f"module_{name}")]
    return [["mkdir", "-p", "version4"],
            ["tar", "xzf", "src/extras/np4-sisci.tar.gz", "-C", "version4"],
            ["touch", "version4/src/sisci_demolib.h", "version4/src/scilib.h"],
            ["cp", "src/extras/sisci.c", "src/extras/scivlib.c", "version4/src"],
            ["sed", "-i", "s/Broadcast(ArgStruct .p, int/Broadcast(ArgStruct *p, unsigned int/", "version4/src/netpipe.h"],
            ["sed", "-i", ADDRESSES, "version4/src/sisci.c"],
            [*old, "version4/src/sisci.c", "-o", "module.o"],
            ["objcopy", *renamed, "module.o"],
            ["objcopy", *kept, "module.o"],
            [*old, HERE / "driver.c", "-o", "driver.o"],
            ["cc", "-std=gnu99", "-fcommon", "-O2", "-w", "-DNOCOLOR", "-Isrc", "-D_GLOBAL_VAR_=", "src/netpipe.c", "module.o",
             "driver.o", "-o", "NPsisci", f"-L{library}", f"-Wl,-rpath,{library}", "-lsisci", "-lm"]]


def judge(status, output):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    sizes = re.findall(r"^ *\d+: +([\d.]+) *([KMG]?B)\b", output, re.M)
    if len(sizes) < 20:
        return f"{len(sizes)} sizes were measured"
    return "" if re.search(r"failed|fatal", output, re.I) is None else "a failure was reported"


def run(binary, title, options, table):
    with tempfile.TemporaryDirectory(prefix="fulmar-netpipe-") as name:
        folder = pathlib.Path(name)
        (folder / "siscihosts").write_text("".join(f"{host} {rank}\n" for rank, host in enumerate(HOSTS)))
        command = [binary, "--quickest", "--end", LARGEST, *options]
        status, output, seconds = support.mpiexec(RANKS, command, 60, None, folder)
    table.add(title, judge(status, output), seconds, output)


def main():
    argparse.ArgumentParser(description=__doc__.splitlines()[0]).parse_args()
    source = sources.folder("NETPIPE_SOURCE", "NetPIPE", "src/extras/sisci.c")
    folder = sources.build("netpipe_sisci", source, commands())
    table = sources.Table()
    run(folder / "NPsisci", "NetPIPE over SISCI, the bytes looked at", ["--integrity"], table)
    run(folder / "NPsisci", "NetPIPE over SISCI, ping-pong", [], table)
    run(folder / "NPsisci", "NetPIPE over SISCI, one way", ["--stream"], table)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
