# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Runs mpi4py on Fulmar: its bench programs, then its own test files, as suites.txt says.

usage: run.py [--ranks N] [--wheel NAME] [--soak] [--excluded] [--bench-only] [--only FILE...] [--without FILE...]

The wheels are those of prepare.py; `mpich`, built with MPICH's compiler, finds Fulmar through LD_LIBRARY_PATH. pypi-mpich and
pypi-openmpi are the two halves of PyPI's wheel, which run on the libraries that mpiexec offers for other ABIs.
Each test file is one job of its own, so that a crash or a hang costs one line of the table and the next file
still runs. --soak takes every file that is run at all, --excluded tries what is left out and says what passes.
"""

import argparse
import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import prepare  # noqa: E402
import support  # noqa: E402

SUITES = pathlib.Path(__file__).resolve().parent / "suites.txt"
TESTS = prepare.SOURCE / "test"
WHEELS = ("fulmar", "mpich", "ulfm", "pypi-mpich", "pypi-openmpi")
BENCH = {
    "helloworld": lambda ranks, text: text.count(f" of {ranks} on ") == ranks,
    "ringtest": lambda ranks, text: "time for" in text and "error" not in text.lower(),
    "pingpong": lambda ranks, text: ranks < 2 or len(re.findall(r"^ *\d+ ", text, re.M)) >= 20,
}

Plan = collections.namedtuple("Plan", "files left_out single")


def read_plan():
    """suites.txt: files with the ranks they run on, files and single tests left out with the reason."""
    plan = Plan({}, {}, {})
    for number, line in enumerate(SUITES.read_text().splitlines(), 1):
        words = line.split("#")[0].split(maxsplit=2)
        if not words:
            continue
        if len(words) < 3 or words[0] not in ("run", "not", "but"):
            sys.exit(f"suites.txt:{number}: `run FILE RANKS`, `not FILE REASON` or `but PATTERN REASON` expected")
        if words[0] == "run":
            plan.files[words[1]] = words[2].split()
        else:
            {"not": plan.left_out, "but": plan.single}[words[0]][words[1]] = words[2]
    named = {*plan.files, *plan.left_out}
    there = {file.stem.removeprefix("test_") for file in TESTS.glob("test_*.py")}
    if named != there:
        sys.exit(f"suites.txt: not in mpi4py: {sorted(named - there)}; not in the list: {sorted(there - named)}")
    return plan


class Runner:
    """One wheel on one number of ranks."""

    def __init__(self, wheel, ranks, timeout):
        self.ranks = ranks
        self.timeout = timeout
        name, _, abi = wheel.partition("-")
        changes = {"PYTHONPATH": prepare.site(name), "PYTHONDONTWRITEBYTECODE": "1"}
        if abi:
            changes["MPI4PY_MPIABI"] = abi
        if wheel == "mpich":
            changes["LD_LIBRARY_PATH"] = support.LIBRARY.parent
        self.environment = support.clean_environment(**changes)
        self.preloaded = ["env", f"LD_PRELOAD={prepare.COUNTER}"] if wheel == "ulfm" else []

    def python(self, *words, timeout=None):
        """A Python job: status, output, seconds."""
        command = [*self.preloaded, prepare.TOOLS / "bin" / "python", *words]
        return support.mpiexec(self.ranks, command, timeout or self.timeout, self.environment)

    def is_fulmar(self):
        """Whether the module really runs on the library of this build."""
        status, output, _ = self.python("-c", "from mpi4py import MPI; print(MPI.Get_library_version())")
        if status != 0 or output.count("Fulmar") != self.ranks:
            print(f"mpi4py does not run on Fulmar:\n{output}")
            return False
        return True

    def bench(self, whole):
        """The programs of mpi4py.bench; how many failed. `whole`: with messages of up to a gigabyte."""
        failed = 0
        for name, good in BENCH.items():
            words = [name]
            if name == "pingpong":
                if self.ranks < 2:
                    continue
                words += [] if whole else ["--max-size", str(1 << 22), "--loop", "1000", "--loop-large", "100"]
            status, output, seconds = self.python("-m", "mpi4py.bench", *words)
            passed = status == 0 and good(self.ranks, output)
            print(f"  bench {name:16} {'passed' if passed else 'FAILED'} {seconds:6.1f} s", flush=True)
            if not passed:
                failed += 1
                print(f"  exit status {status}\n{output}")
        return failed

    def tests(self, name, *words, timeout=None):
        """mpi4py's own test program on one file, with the installed mpi4py, not with what its build left."""
        return self.python(TESTS / "main.py", "--no-builddir", "-i", rf"^test_{name}\.py$", *words, timeout=timeout)

    def suite(self, name, patterns):
        """One test file without the tests left out; 1 if it failed."""
        words = [word for pattern in patterns for word in ("-x", f"*{pattern}*")]
        status, output, seconds = self.tests(name, *words)
        counts = [int(count) for count in re.findall(r"Ran (\d+) tests?", output)]
        # Its banner says which mpi4py a rank imported.
        banner = f"mpi4py {prepare.VERSION} ({self.environment['PYTHONPATH']}/"
        passed = status == 0 and len(counts) == self.ranks == output.count(banner)
        number = max(counts, default=0)
        print(f"  {name:22} {'passed' if passed else 'FAILED'} {seconds:6.1f} s {number:5} tests", flush=True)
        if passed and self.preloaded:
            passed = self.calls_ours(output)
        if passed:
            return 0
        print(f"  exit status {status}\n{shorten(output)}")
        return 1

    def calls_ours(self, output):
        """Whether each rank has called each function of mpi-ext.h that mpi4py knows."""
        lines = re.findall(r"calls of mpi-ext\.h:(.*)", output)
        counts = [dict(word.split("=") for word in line.split()) for line in lines]
        wanted = [name for name in prepare.ULFM if name.startswith("Comm_")]
        for name in wanted:
            print(f"    MPIX_{name:16} " + " ".join(one[name] for one in counts), flush=True)
        return len(counts) == self.ranks and all(int(one[name]) > 0 for one in counts for name in wanted)

    def passing(self, name, pattern=None):
        """The tests of a file (those that match a pattern) that pass on rank 0."""
        words = ["-k", pattern] if pattern else []
        _, output, _ = self.tests(name, "-v", *words, timeout=60)
        return sorted(set(re.findall(r"\((\w+\.\w+\.\w+)\) \.\.\. ok$", output, re.M)))


def shorten(text, limit=6000):
    """The beginning and the end of a long text."""
    if len(text) <= 2 * limit:
        return text
    return f"{text[:limit]}\n[... {len(text) - 2 * limit} characters left out ...]\n{text[-limit:]}"


def try_excluded(runner, plan):
    """What suites.txt leaves out and passes all the same."""
    for name, reason in plan.left_out.items():
        tests = runner.passing(name)
        print(f"  {name:22} left out ({reason}): {len(tests)} tests pass", flush=True)
    for pattern, reason in plan.single.items():
        for name in plan.files:
            if f"test_{name}.".startswith(pattern.split(".")[0] + "."):
                tests = runner.passing(name, f"*{pattern}*")
                verdict = f"PASSES: {' '.join(tests)}" if tests else "does not pass"
                print(f"  {pattern:22} left out ({reason}): {verdict}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--wheel", choices=WHEELS, default="fulmar")
    parser.add_argument("--timeout", type=int, default=120, help="seconds for one test file")
    parser.add_argument("--soak", action="store_true")
    parser.add_argument("--excluded", action="store_true")
    parser.add_argument("--bench-only", action="store_true")
    parser.add_argument("--only", nargs="+", metavar="FILE")
    parser.add_argument("--without", nargs="+", metavar="FILE", default=[])
    arguments = parser.parse_args()
    if not prepare.site(arguments.wheel.partition("-")[0]).exists():
        support.skip("prepare.py has built no wheel (see its own output)")
    plan = read_plan()
    runner = Runner(arguments.wheel, arguments.ranks, arguments.timeout)
    print(f"mpi4py {prepare.VERSION} built with {arguments.wheel}, {arguments.ranks} ranks", flush=True)
    if not runner.is_fulmar():
        return 1
    if arguments.excluded:
        try_excluded(runner, plan)
        return 0
    failed = 0 if arguments.only else runner.bench(arguments.bench_only or arguments.soak)
    names = arguments.only or [name for name, ranks in plan.files.items()
                               if not arguments.bench_only and (arguments.soak or str(arguments.ranks) in ranks)]
    names = [name for name in names if name not in arguments.without]
    for name in names:
        failed += runner.suite(name, plan.single)
    print(f"{failed} failed of {len(names)} test files and the bench programs")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
