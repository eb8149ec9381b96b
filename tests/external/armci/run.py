# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds ARMCI of April 2004 with its module for VIA and Fulmar's vipl.h, and runs its test program over VIPL.

usage: run.py [--ranks 2 3] [--fabric shm tcp...]

ARMCI_SOURCE names a folder with its sources: the folder armci at commit 2942d53b of github.com/GlobalArrays/ga. MPI starts
the job; all else is messages and remote writes of VIPL, which a thread of each node answers. ARMCI takes each host for a
node of many processes, and finds it by its name; here every process is a node, with its rank as the name.

What is built is a copy in which the module names a protection tag for its VIs, as its memory has; posts receive descriptors
that end where the registered memory ends (it posts 64 KiB at the end of small buffers, too); clears the flags that remote
writes set where they are set, not beside them; and yields the core sooner, because a node polls with more threads than it
has cores here. The numbers say nothing about speed.
"""

import argparse
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

CORRECTIONS = {
    "via.c": ["s/vattr.EnableRdmaWrite  = VIP_TRUE;/& vattr.Ptag = nic->ptag;/",
              "s/armci_init_vbuf(rcv_dscr,dataptr,MSG_BUFLEN,/armci_init_vbuf(rcv_dscr,dataptr,4096,/",
              "s/,1,10000)/,1,100)/"],
    "ds-shared.c": ["s/arg.buf_posted = arg.buf   = buf;/"
                    "arg.buf_posted = arg.buf = (char*)(msginfo+1)+msginfo->dscrlen;/"],
}
FILES = ["strided", "armci", "memory", "fence", "rmw", "acc", "kr_malloc", "memlock", "pack", "vector", "clusterinfo",
         "mutex", "locks", "aggregate", "rtinfo", "message", "signaltrap", "shmlimit", "shmem", "semaphores", "spawn",
         "request", "via", "ds-shared", "buffers", "async"]
# As C was: what is not declared returns an int, and a variable may be defined in several files.
HEADERS = [word for name in ("malloc", "stdlib", "string", "unistd") for word in ("-include", f"{name}.h")]
C = ["mpicc", "-std=gnu89", "-fcommon", "-O1", "-w", "-DMPI", "-DLINUX", "-DLINUX64", *HEADERS]
LIBRARY = ["-DVIA", "-DPTHREADS", "-DDATA_SERVER", "-DSERVER_THREAD", "-D_REENTRANT", "-DSYSV", "-DSHMEM"]
# The chapters of the program, in its order.
CHAPTERS = ["strided gets and puts", "non-blocking gets and puts", "non-blocking vector gets and puts",
            "atomic accumulate", "Vector Interface", "Accumulate with Vector Interface", "atomic fetch&add", "atomic swap",
            "register-originated put and get", "aggregate put/get requests", "implicit handles"]


def commands():
    library = support.BUILD / "lib"
    edits = [["sed", "-i", *(word for each in lines for word in ("-e", each)), f"src/{name}"]
             for name, lines in CORRECTIONS.items()]
    compilations = [[*C, *LIBRARY, f"-I{support.BUILD / 'include'}", "-c", f"src/{name}.c", "-o", f"{name}.o"] for name in FILES]
    fortran = [["gfortran", "-O1", "-w", "-std=legacy", "-c", f"src/{name}.f", "-o", f"{name}.o"]
               for name in ("faccumulate", "fcopy")]
    objects = [f"{name}.o" for name in (*FILES, "faccumulate", "fcopy")]
    link = [*C, "src/test.c", *objects, "-o", "test.x", f"-L{library}", f"-Wl,-rpath,{library}", "-lvipl", "-lpthread",
            "-lgfortran", "-lm"]
    return [*edits, *compilations, *fortran, link]


def judge(status, output):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    missing = [chapter for chapter in CHAPTERS if f"Testing {chapter}" not in output]
    if missing:
        return f"not tested: {', '.join(missing)}"
    if "Network protocol is 'VIA'" not in output:
        return "it did not use VIA"
    errors = re.findall(r".*(?:ERROR|failed|FAILURE).*", output)
    return errors[0] if errors else "" if "All tests passed" in output else "it did not say that all tests passed"


def run(binary, ranks, fabric, table):
    with tempfile.TemporaryDirectory(prefix="fulmar-armci-") as name:
        command = ["sh", "-c", f"ARMCI_HOSTNAME=$FULMAR_RANK exec {binary}"]
        environment = support.clean_environment(FULMAR_FABRIC=fabric)
        status, output, seconds = support.mpiexec(ranks, command, 230, environment, name)
    table.add(f"ARMCI's test over VIPL, {ranks} nodes, {fabric}", judge(status, output), seconds, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3])
    parser.add_argument("--fabric", nargs="+", default=["shm", "tcp"])
    arguments = parser.parse_args()
    source = sources.folder("ARMCI_SOURCE", "ARMCI", "src/via.c")
    sources.needs("gfortran")
    binary = sources.build("armci", source, commands()) / "test.x"
    table = sources.Table()
    for ranks in arguments.ranks:
        for fabric in arguments.fabric:
            run(binary, ranks, fabric, table)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
