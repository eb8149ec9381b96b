# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds the Intel MPI Benchmarks with Fulmar's compilers and runs them with few repetitions.

usage: run.py [--ranks N...] [--suite NAME...]     (default: 2 4 8 ranks, all suites that plan.txt runs)

IMB_SOURCE names a folder with the sources (github.com/intel/mpi-benchmarks, 2021.8 or later). They are
built with CHECK, so that every result is compared; a column `defects` that is not zero is a failure, as
is a benchmark without its table. The numbers say nothing about speed.
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
# A heading of a table, "# Benchmarking NAME" (IMB-P2P writes "# Benchmark NAME"; of groups, Multi-NAME).
HEADING = re.compile(r"^#? *Benchmark(?:ing)? +(?:Multi-)?(\S+)", re.M)


def read_plan():
    """plan.txt: suite -> list of (options, names of benchmarks that must print a table)."""
    plan = {}
    for number, line in enumerate(PLAN.read_text().splitlines(), 1):
        if not line.split("#")[0].strip():
            continue
        parts = [part.strip() for part in line.split("#")[0].split("|")]
        if len(parts) != 4:
            sys.exit(f"plan.txt:{number}: `SUITE | RANKS | OPTIONS | BENCHMARKS` expected")
        suite, ranks, options, names = parts
        plan.setdefault(suite, []).append((ranks.split(), options.split(), names.split()))
    return plan


def defects(section):
    """The rows of a table whose last column, headed `defects`, is not zero."""
    if "defects" not in section:
        return []
    return [row for row in re.findall(r"^ +\d.*$", section, re.M) if float(row.split()[-1]) != 0]


def judge(status, output, names):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    headings = list(HEADING.finditer(output))
    ends = [heading.start() for heading in headings[1:]] + [len(output)]
    seen = set()
    for heading, end in zip(headings, ends):
        section = output[heading.end():end]
        wrong = defects(section)
        if wrong:
            return f"{heading[1]} has defects: {wrong[0].strip()}"
        if re.search(r"^ +\d", section, re.M):
            seen.add(heading[1].lower())
    lacking = [name for name in names if name.lower() not in seen]
    return f"no results of {' '.join(lacking)}" if lacking else ""


def run_suite(binary, suite, ranks, options, names, table):
    """One job; the words {ranks} in the options stand for their number."""
    words = [word.replace("{ranks}", str(ranks)) for word in options]
    command = [binary, *words, *names]
    # With more threads than cores the barriers of OpenMP would spin whole time slices, and a run take minutes.
    environment = support.clean_environment(OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
    with tempfile.TemporaryDirectory(prefix="fulmar-imb-") as folder:  # for the files of IMB-IO
        status, output, seconds = support.mpiexec(ranks, command, 300, environment, folder)
    title = f"IMB-{suite} {ranks} ranks, {len(names)} benchmarks"
    table.add(title, judge(status, output, names), seconds, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--suite", nargs="+")
    arguments = parser.parse_args()
    plan = read_plan()
    suites = arguments.suite or list(plan)
    source = sources.folder("IMB_SOURCE", "the Intel MPI Benchmarks", "src_cpp/Makefile")
    targets = [f"IMB-{suite}" for suite in plan]
    make = ["make", "-j2", "CC=mpicc", "CXX=mpicxx", "CPPFLAGS=-DCHECK -O2 -Wno-error", "WITH_OPENMP=1"]
    # One after the other: the suites share object files.
    folder = sources.build("imb", source, [[*make, target] for target in targets])
    table = sources.Table()
    for suite in suites:
        for ranks in arguments.ranks:
            for allowed, options, names in plan[suite]:
                if str(ranks) in allowed:
                    run_suite(folder / f"IMB-{suite}", suite, ranks, options, names, table)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
