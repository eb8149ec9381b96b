# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Runs programs of Debian 12, unmodified, on Fulmar and on the MPI that they were packaged for, side by side.

usage: run.py [--only WORD...] [--rounds N]     (default: all programs, one round)

DEBIAN_ROOT names a folder in which a throw-away Debian is made with apt-get and dpkg-deb (2.5 GB, once) and entered with chroot,
so this wants root and the package lists of Debian 12. Under both libraries a program has to end well with the same results;
the seconds are its own where it has a clock, and medians of the rounds, which alternate.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import programs  # noqa: E402
import root  # noqa: E402
import support  # noqa: E402

TIMEOUT = 400
LAUNCHERS = {
    "openmpi": ["/usr/bin/mpirun.openmpi", "-n"],
    "mpich": ["/usr/bin/mpiexec.hydra", "-n"],
    "fulmar": [f"{root.FULMAR}/bin/mpiexec", "--timeout", str(TIMEOUT - 30), "-n"],
}


def debian_root():
    """The Debian, made if need be; ends the recipe as skipped where it cannot be."""
    name = os.environ.get("DEBIAN_ROOT", "")
    if not name:
        support.skip("DEBIAN_ROOT is not set; it names a folder for the packages of Debian 12")
    if os.geteuid() != 0 or not shutil.which("unshare"):
        support.skip("only root can enter the Debian of DEBIAN_ROOT")
    release = pathlib.Path("/etc/os-release").read_text()
    if "bookworm" not in release:
        support.skip("the packages are those of Debian 12, which this host is not")
    inside = root.Root(name)
    inside.make()
    return inside


class LeftOut(Exception):
    """What a program needs cannot be had."""


def once(inside, program, library):
    """One run: (results, seconds, output)."""
    folder = inside.folder / root.RUNS.strip("/") / "run"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    if program.prepare and program.prepare(inside, folder) is False:
        raise LeftOut
    command = [*LAUNCHERS[library], str(program.ranks), *program.command]
    status, output, seconds = inside.run(command, TIMEOUT, f"{root.RUNS}/run")
    results = program.results(output, folder) if status == 0 else []
    own = program.clock(output) if program.clock else None
    return results, seconds if own is None else own, f"exit status {status}\n{output}"


def compare(inside, program, rounds):
    """Whether both libraries gave the same; prints the line of the table."""
    seconds = {program.mpi: [], "fulmar": []}
    expected, problem, text = None, "", ""
    for _ in range(rounds):
        for library, taken in seconds.items():
            results, time, output = once(inside, program, library)
            taken.append(time)
            expected = results if expected is None else expected
            if not problem and not results:
                problem, text = f"no results with {library}", output
            elif not problem and results != expected:
                problem, text = f"other results with {library}: {results[:3]}, not {expected[:3]}", output
    theirs, ours = (statistics.median(taken) for taken in seconds.values())
    verdict = "FAILED" if problem else "passed"
    print(f"  {program.name:28} {program.mpi:8} {program.ranks} ranks {theirs:8.2f} s, Fulmar {ours:8.2f} s  {verdict}"
          f" ({len(expected or [])} results)", flush=True)
    if problem:
        print(f"    {problem}\n{text[-3000:]}", flush=True)
    return not problem


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD", help="programs whose name has one of these")
    parser.add_argument("--rounds", type=int, default=1)
    arguments = parser.parse_args()
    inside = debian_root()
    chosen = [one for one in programs.all_programs() if any(word in f"{one.name} {one.mpi}" for word in arguments.only)]
    passed = []
    for program in chosen:
        try:
            passed.append(compare(inside, program, arguments.rounds))
        except LeftOut:
            print(f"  {program.name:28} left out", flush=True)
    print(f"{len(passed) - sum(passed)} of {len(passed)} programs failed")
    return 0 if passed and all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
