# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds PT-Scotch and runs its own checks of distributed graphs.

usage: run.py [--ranks N...]     (default: 2 3 4)

SCOTCH_SOURCE names a folder with the sources (7.0; `apt-get source scotch` has them). flex, bison and zlib's headers have to be
installed. The makefile's checks are meant for 3 ranks; all but those of graphs in four pieces run on any number.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402


def build():
    """The folder in which it was built."""
    source = sources.folder("SCOTCH_SOURCE", "PT-Scotch", "src/check/test_scotch_dgraph_check.c")
    sources.needs("flex", "bison", "make")
    settings = "src/Make.inc/Makefile.inc.x86-64_pc_linux2"
    # CCD compiles what includes mpi.h but is run at once.
    choose = f"sed -e 's/-O3/-O2 -w/' -e 's/^CCD.*/CCD = mpicc/' {settings} > src/Makefile.inc"
    # Their makefile is not for several jobs at once.
    return sources.build("scotch", source, [["sh", "-c", choose], ["make", "-C", "src", "ptscotch"]])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 3, 4])
    arguments = parser.parse_args()
    built = build()
    launch = " ".join(support.launch(300))
    # Debian's sources make shared libraries of it.
    environment = support.clean_environment(PATH=f"{support.BIN}:/usr/bin:/bin", LD_LIBRARY_PATH=built / "lib")
    table = sources.Table()
    for ranks in arguments.ranks:
        check = ["make", "-C", built / "src" / "check", "ptcheck", f"EXECP3={launch} -n {ranks}", f"EXECP4={launch} -n 4",
                 f"TMPDIR={built}"]
        status, output, seconds = support.run(check, 1800, environment)
        problem = f"exit status {status}" if status else ""
        if not problem and output.count(f"{launch} -n {ranks}") < 12:
            problem = "fewer than 12 jobs ran"
        if not problem and support.STANDSTILL in output:
            problem = "a job stood still"
        table.add(f"ptcheck {ranks} ranks", problem, seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
