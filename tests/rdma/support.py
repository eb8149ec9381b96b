# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What the tests in guests share: lists of steps that one boot runs, and their results."""

import dataclasses
import os
import pathlib
import re
import secrets
import shlex
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"]).resolve()
SOURCE = pathlib.Path(os.environ["FULMAR_SOURCE_DIR"]).resolve()
RDMAVM = SOURCE / "tests" / "support" / "rdmavm"
STEPS = SOURCE / "tests" / "rdma" / "steps.sh"
PROGRAMS = BUILD / "tests" / "rdma" / "programs.txt"
PING = BUILD / "tests" / "verbs_ping"
MPIEXEC, FULMAR = BUILD / "bin" / "mpiexec", BUILD / "bin" / "fulmar"
SKIPPED = 77
LAUNCHER_VARIABLES = ("PMI", "SLURM_", "OMPI_", "PRTE_", "OPAL_", "FULMAR_", "HYDRA_", "HYDI_", "MPI_", "LD_LIBRARY")


@dataclasses.dataclass
class Step:
    """A command to run in a guest."""
    name: str  # without blanks
    limit_s: int
    command: list
    environment: dict = dataclasses.field(default_factory=dict)

    def line(self):
        words = ["env", *(f"{name}={value}" for name, value in self.environment.items()), *map(str, self.command)]
        return f"{self.name}\t{self.limit_s}\t{shlex.join(words)}\n"


@dataclasses.dataclass
class Result:
    """How a step ended."""
    status: int
    seconds: int
    output: str


@dataclasses.dataclass
class Program:
    """An MPI program of tests/mpi that is run over a network (cmake/testing.cmake)."""
    name: str
    most_ranks: int
    limit_s: int
    arguments: list


def programs():
    """Those that were built, as CMake has listed them: name, ranks, seconds, arguments."""
    lines = PROGRAMS.read_text().splitlines() if PROGRAMS.exists() else []
    rows = [line.split() for line in lines]
    return [Program(words[0], int(words[1]), int(words[2]), words[3:]) for words in rows]


def prepare():
    """Makes sure of the guests' kernel, or ends the test as one that could not be tried."""
    done = subprocess.run([RDMAVM, "--prepare"], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode == SKIPPED:
        skip(done.stderr.strip())
    if done.returncode != 0:
        sys.exit(f"rdmavm --prepare: exit status {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout.strip()


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def lacks_verbs():
    """Why this build cannot use verbs; empty when it can."""
    text = subprocess.run([FULMAR, "info"], capture_output=True, text=True, check=False, env=environment()).stdout
    found = re.search(r"^  verbs +(\S.*)$", text, re.MULTILINE)
    if not found:
        return "fulmar info says nothing of the network verbs"
    return found[1] if found[1].startswith("not in") else ""


def environment():
    """The caller's, without what changes the library."""
    return {name: value for name, value in os.environ.items() if not name.startswith(LAUNCHER_VARIABLES)}


def run_steps(steps, options=(), timeout_s=600, wrapper=()):
    """Boots a guest, or as many as the options say, and runs the steps in it. By name: how they ended; a step that was
    not reached is not there. `wrapper` is what runs steps.sh in the guest. Also returns everything that was printed."""
    mark = "step-" + secrets.token_hex(8)
    with tempfile.NamedTemporaryFile("w", prefix="fulmar-steps-") as file:
        file.writelines(step.line() for step in steps)
        file.flush()
        words = [RDMAVM, "--timeout", str(timeout_s), *options, "--", *wrapper, STEPS, mark, file.name]
        status, text = run_showing(list(map(str, words)), mark)
    if status == SKIPPED:
        skip(text.strip())
    return results_in(text, mark), f"{text}(rdmavm has ended with status {status})"


def run_showing(words, mark):
    """Runs a command; tells of each step that has ended, as minutes pass without anything else to see."""
    lines = []
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/",
                          text=True, errors="replace", env=environment()) as process:
        for line in process.stdout:
            lines.append(line)
            if re.match(r"(\[\d\] )?progress: ", line):
                print(f"  {line.rstrip()}", flush=True)
            found = re.search(rf"{mark} end (\S+) (\d+) (\d+)$", line)
            if found:
                print(f"  {found[1]}: status {found[2]}, {found[3]} s", flush=True)
    return process.returncode, "".join(lines)


def results_in(text, mark):
    form = rf"^(?:\[\d\] )?{mark} begin (\S+)\n(.*?)^(?:\[\d\] )?{mark} end \1 (\d+) (\d+)$"
    return {found[1]: Result(int(found[3]), int(found[4]), found[2])
            for found in re.finditer(form, text, re.MULTILINE | re.DOTALL)}


class GuestTest(unittest.TestCase):
    """Asserts on the results of one boot."""

    results = {}
    everything = ""

    def passed(self, name):
        """The output of a step that has ended well."""
        if name not in self.results:
            self.fail(f"the step {name} has no result; what the guest printed ends with:\n{self.everything[-3000:]}")
        result = self.results[name]
        self.assertEqual(result.status, 0, f"{name} after {result.seconds} s:\n{result.output[-5000:]}")
        return result.output


def main():
    """Runs the tests of the calling file. Status 77 when all were skipped."""
    result = unittest.main(exit=False, verbosity=2).result
    for _, reason in result.skipped:
        print(f"skipped: {reason}")
    if not result.wasSuccessful():
        sys.exit(1)
    sys.exit(SKIPPED if result.testsRun == 0 or len(result.skipped) >= result.testsRun else 0)
