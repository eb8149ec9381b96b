# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds the OSU micro-benchmarks with Fulmar's mpicc and runs them with few repetitions and their own validation.

usage: run.py [--ranks N...] [--only PART...]     (default: all that plan.txt runs, with its numbers of ranks)

OSU_SOURCE names a folder with the sources (version 7.4, with `configure`). Programs that print results
for every length, all of them validated, have passed. The numbers say nothing about speed.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

PLAN = pathlib.Path(__file__).resolve().parent / "plan.txt"
WORLD = re.compile(r"without calling MPI_Finalize")


class Plan:
    """plan.txt: what is run how, in the order of the file, and what is not."""

    def __init__(self):
        self.runs = []  # (pattern, ranks, options, rows)
        self.left_out = []  # patterns
        for number, line in enumerate(PLAN.read_text().splitlines(), 1):
            parts = [part.strip() for part in line.split("#")[0].split("|")]
            if parts == [""]:
                continue
            if parts[0] == "not" and len(parts) == 3:
                self.left_out.append(parts[1])
            elif parts[0] == "run" and len(parts) == 5:
                self.runs.append((parts[1], parts[2].split(), parts[3].split(), int(parts[4])))
            else:
                sys.exit(f"plan.txt:{number}: `run | PROGRAMS | RANKS | OPTIONS | ROWS` or "
                         f"`not | PROGRAMS | REASON` expected")

    def check(self, programs):
        """Every program is in the list, and everything in the list is a program."""
        patterns = [run[0] for run in self.runs] + self.left_out
        unknown = [name for name in programs if not any(pathlib.PurePath(name).match(at) for at in patterns)]
        stale = [at for at in patterns if not any(pathlib.PurePath(name).match(at) for name in programs)]
        if unknown or stale:
            sys.exit(f"plan.txt: not in the list: {unknown}; not in the sources: {stale}")

    def chosen(self, programs):
        """(program, ranks, options, rows) for every run. Lines that name a program alone replace patterns."""
        alone = {name for name in programs for run in self.runs if "*" not in run[0] and name.endswith(run[0])}
        for pattern, ranks, options, rows in self.runs:
            for name in programs:
                path = pathlib.PurePath(name)
                if not path.match(pattern) or ("*" in pattern and name in alone):
                    continue
                for count in ranks:
                    yield name, int(count), options, rows


def judge(name, status, output, rows, validated):
    """What is wrong with a run; an empty text if nothing is."""
    # This one ends without MPI_Finalize under every MPI; mpiexec has to say so.
    if status == support.STANDSTILL_STATUS:
        return "a report of a deadlock"
    ends_early = name.endswith("osu_latency_mt")
    if ends_early != bool(WORLD.search(output)) or (status != 0 and not ends_early):
        return f"exit status {status}"
    # The programs say Pass and Fail, those with windows passed, failed and skipped.
    if re.search(r"\bfail(ed)?\b|VALIDATION ERROR", output, re.I):
        return "wrong data"
    table = re.findall(r"^ *\d[\d.]*(?: .*)?$", output, re.M)
    if validated:
        table = [row for row in table if re.search(r"\bpass(ed)?\b", row, re.I)]
    return "" if len(table) >= rows else f"{len(table)} rows of results instead of {rows}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+")
    parser.add_argument("--only", nargs="+", metavar="PART", help="programs with this in their path")
    arguments = parser.parse_args()
    plan = Plan()
    source = sources.folder("OSU_SOURCE", "the OSU micro-benchmarks", "c/mpi/pt2pt/standard/osu_latency.c")
    folder = sources.build("osu", source, [["sh", "./configure", "CC=mpicc", "CXX=mpicxx", "CFLAGS=-O2"],
                                           ["make", "-C", "c", "-j2"]]) / "c" / "mpi"
    programs = sorted(str(file.relative_to(folder)) for file in folder.rglob("osu_*")
                      if file.is_file() and not file.suffix and file.stat().st_mode & 0o100)
    plan.check(programs)
    table = sources.Table()
    for name, ranks, options, rows in plan.chosen(programs):
        if arguments.ranks and ranks not in arguments.ranks:
            continue
        if arguments.only and not any(part in name for part in arguments.only):
            continue
        status, output, seconds = support.mpiexec(ranks, [folder / name, *options], 120)
        table.add(f"{name} {ranks} ranks", judge(name, status, output, rows, "-c" in options), seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
