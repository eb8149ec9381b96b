# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds PnetCDF with Fulmar's compiler and runs its own tests, which compare what they read and check each file.

usage: run.py [--ranks N...] [--folder FOLDER]     (default: 1, 2 and 4 ranks, a temporary folder)

PNETCDF_SOURCE names a folder with the sources (1.12.3 or later; `apt-get source pnetcdf` has them, and wants autoconf,
automake and libtool). On one rank it is `make check`, on several `make ptest`.
"""

import argparse
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

LEAST_PASSED = 50  # programs of test/testcases and test/nonblocking alone


def build():
    """The folder in which it was built."""
    source = sources.folder("PNETCDF_SOURCE", "PnetCDF", "src/drivers/ncmpio")
    commands = [["autoreconf", "-fi"],
                ["./configure", f"--with-mpi={support.BUILD}", "--disable-fortran", "--disable-cxx", "CFLAGS=-O1 -w"],
                ["make", "-j2"], ["make", "-j2", "tests"]]
    return sources.build("pnetcdf", source, commands)


def judge(status, output):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    if support.STANDSTILL in output:
        return "a job stood still"
    wrong = re.search(r"^.*(------ .*fail|# (FAIL|ERROR): +[1-9]).*$", output, re.M)
    if wrong:
        return wrong[0].strip()
    passed = len(re.findall(r"------ .*pass|^PASS: ", output, re.M))
    return "" if passed >= LEAST_PASSED else f"only {passed} programs passed"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--folder", help="where the files are written")
    arguments = parser.parse_args()
    built = build()
    table = sources.Table()
    for ranks in arguments.ranks:
        # Their scripts put the number of ranks for the word NP, of which there is none here.
        launch = f"{support.BIN}/mpiexec --deadlock-timeout 30 --deadlock-abort --timeout 600 -n {ranks}"
        target = "ptest" if ranks > 1 else "check"
        # The scripts of its examples look for files that four ranks write.
        folder_of_tests = built if ranks in (1, 4) else built / "test"
        with tempfile.TemporaryDirectory(prefix="fulmar-pnetcdf-", dir=arguments.folder) as folder:
            command = ["make", "-C", folder_of_tests, target, f"TESTMPIRUN={launch}", f"TESTOUTDIR={folder}"]
            status, output, seconds = support.run(command, 2400, support.clean_environment())
        passed = len(re.findall(r"------ .*pass|^PASS: ", output, re.M))
        table.add(f"make {target}, {ranks} ranks: {passed} programs passed", judge(status, output), seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
