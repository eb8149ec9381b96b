# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What the fault tests share: running fault_rank, and what this machine allows."""

import os
import pathlib
import resource
import shutil
import subprocess
import time

from support import LauncherTest, processes

FAULT_RANK = os.environ["FAULT_RANK"]
FAULT_LARGE = os.environ["FAULT_LARGE"]
SKIPPED = 77
# Of a process whose group could not meet another one because its root died meanwhile: those of the other group may know it already.
REFUSED_WITHDRAWAL = r"fulmar: rank \d of \d: tcp: a connection from .* was refused: it belongs to another job"
# A job that has not ended by then hangs. Starting it takes seconds beside other programs, and minutes in an emulated guest.
JOB_LIMIT_S = float(os.environ.get("FAULT_JOB_LIMIT_S", "60"))
SANITIZED = any(name in os.environ for name in ("ASAN_OPTIONS", "TSAN_OPTIONS"))


def limit(kind, value):
    """For preexec_fn: a hard limit."""
    return lambda: resource.setrlimit(kind, (value, value))


def may(*command):
    """Whether a command succeeds here: for what needs rights."""
    if shutil.which(command[0]) is None:
        return False
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


def processes_with(mark):
    """Those whose environment holds a text."""
    found = []
    for pid in processes():
        try:
            if mark.encode() in pathlib.Path(f"/proc/{pid}/environ").read_bytes():
                found.append(pid)
        except OSError:
            pass
    return found


def longest_recovery_s(text):
    """What programs with test::mark (deaths.h) have told: the longest time that a process which lives on needed from the first
    death in one of its rounds to the end of that round. A round in which nobody dies may start processes, and take longer."""
    marks = sorted((int(us), what, pid) for what, pid, us in (line.split() for line in text.splitlines()))
    deaths = [us for us, what, _ in marks if what == "dies"]
    begins, longest_us = {}, 0
    for us, what, pid in marks:
        if what == "dies":
            begins.pop(pid, None)
            continue
        if pid in begins:
            since = next((death for death in deaths if begins[pid] <= death < us), us)
            longest_us = max(longest_us, us - since)
        begins[pid] = us
    return longest_us / 1e6


class FaultTest(LauncherTest):
    longest_recovery_s = 0.0

    def run_traffic(self, ranks, *arguments, prefix=(), **options):
        """A job of fault_rank that has to end well."""
        result = self.run_fault(ranks, *(arguments or ("traffic",)), prefix=prefix, **options)
        if result.returncode == SKIPPED:
            self.skipTest(f"not possible here: {arguments}")
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def run_fault(self, ranks, *arguments, prefix=(), timeout=100, **options):
        if SANITIZED:
            timeout *= 5  # as in cmake/testing.cmake
        return self.run_job("-n", ranks, *prefix, FAULT_RANK, *arguments, timeout=timeout, **options)

    def outlive(self, ranks, *command, network, limit_s):
        """A job that goes on when ranks die, and of which no process is left afterwards. Those that live on have recovered from
        each death within the limit; starting the job may take longer."""
        mark = f"FAULT_JOB={os.getpid()}.{time.monotonic_ns()}"
        name, value = mark.split("=")
        marks = self.folder / "marks"
        marks.unlink(missing_ok=True)
        result = self.run_job("-n", ranks, "--on-failure=continue", *command, timeout=max(limit_s, JOB_LIMIT_S),
                              env={"FULMAR_FABRIC": network, name: value, "FAULT_MARKS": str(marks)})
        if network == "ofi" and "libfabric" in result.stderr:
            self.skipTest("no libfabric here")
        self.assert_gone(*processes_with(mark), limit_s=2)
        if marks.exists():
            took_s = longest_recovery_s(marks.read_text())
            self.longest_recovery_s = max(self.longest_recovery_s, took_s)
            self.assertLess(took_s, limit_s, marks.read_text())
        return result

    def assert_clear_error(self, result, *words):
        """An exit code that is no success and no crash, and a text that says these words."""
        self.assertIn(result.returncode, range(1, 128), result.stderr)
        for word in words:
            self.assertIn(word, result.stderr)
