# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Times of NAS programs on several libraries, in turns, as a table of medians.

usage: compare.py --library NAME FOLDER LAUNCH ... [--ranks N] [--classes W] [--programs is ep ...] [--rounds 3]

FOLDER has the programs as run.py builds them (external/nas/source/bin of the build folder); LAUNCH is one word, with the words in
place of `mpiexec` (`env NAME=VALUE mpiexec --oversubscribe`). A program that does not verify ends it.
"""

import argparse
import pathlib
import re
import shlex
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import support  # noqa: E402
from run import PROGRAMS, SQUARES, file_of, judge  # noqa: E402


def seconds_of(library, ranks, program, size):
    """By the program's own clock, and by ours with its start."""
    name, folder, launch = library
    file = pathlib.Path(folder) / file_of(program, size, "")
    command = [*shlex.split(launch), "-n", str(ranks), file]
    status, output, whole = support.run(command, 600, cwd=folder)
    problem = judge(status, output)
    if problem:
        sys.exit(f"{name}, {file.name}, {ranks} ranks: {problem}\n{output[-3000:]}")
    return float(re.search(r"Time in seconds\s*=\s*([\d.]+)", output)[1]), whole


def print_table(title, jobs, times):
    """A row for each library."""
    print(f"\n{title}\n| | {' | '.join(program.upper() for program, _ in jobs)} | sum |\n|{'---|' * (len(jobs) + 2)}")
    for name, by_job in times.items():
        medians = [statistics.median(by_job[job]) for job in jobs]
        print(f"| {name} | {' | '.join(f'{median:.2f}' for median in medians)} | {sum(medians):.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--library", nargs=3, action="append", required=True)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--classes", nargs="+", default=["W"])
    parser.add_argument("--programs", nargs="+", default=PROGRAMS, choices=PROGRAMS)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    jobs = [(program, size) for size in arguments.classes for program in arguments.programs
            if arguments.ranks in SQUARES or program not in ("sp", "bt")]
    own = {library[0]: {job: [] for job in jobs} for library in arguments.library}
    whole = {library[0]: {job: [] for job in jobs} for library in arguments.library}
    for _ in range(arguments.rounds):
        for job in jobs:
            for library in arguments.library:
                clock, with_start = seconds_of(library, arguments.ranks, *job)
                own[library[0]][job].append(clock)
                whole[library[0]][job].append(with_start)
    title = f"class {' '.join(arguments.classes)}, {arguments.ranks} ranks, medians of {arguments.rounds}, seconds"
    print_table(f"{title} by the programs' own clock", jobs, own)
    print_table(f"{title} with start and end", jobs, whole)


if __name__ == "__main__":
    main()
