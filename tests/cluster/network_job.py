# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""MPI jobs whose ranks are on hosts made of network name spaces (tests/network/hosts.py).

The launcher stays outside, and reaches its ranks by inherited descriptors. So it neither needs the networks that a
test breaks nor learns of what happens there; processes have the numbers that the test sees.
"""

import pathlib
import signal
import struct
import sys
import tempfile
import time

import patient_launcher
import support
from support import BUILD, environment, wait_until

sys.path.insert(0, str(support.SOURCE / "tests" / "network"))
import hosts  # noqa: E402  pylint: disable=wrong-import-position
import layouts  # noqa: E402,F401  pylint: disable=wrong-import-position,unused-import

PROGRAM = BUILD / "tests" / "fault_peer"
# What is promised is 10 s; the rest is for a busy machine.
PROMISED_S = 13


class Job:
    """A job of fault_peer, one rank for each of `places` (hosts)."""

    def __init__(self, places, *words, env=None, obeys_aborts=False):
        self.scratch = tempfile.TemporaryDirectory(prefix="fulmar-faults-", dir=BUILD)
        self.folder = pathlib.Path(self.scratch.name)
        self.size = len(places)
        commands = [place.inside(PROGRAM, self.folder, *words) for place in places]
        texts = [self.folder / f"text.{rank}" for rank in range(self.size)]
        settings = environment(FULMAR_FABRIC="tcp", **(env or {}))
        self.launcher = patient_launcher.Launcher(commands, texts, settings, obeys_aborts)

    def text(self, rank):
        """What a rank has written to its stderr."""
        try:
            return (self.folder / f"text.{rank}").read_text()
        except FileNotFoundError:
            return ""

    def all_text(self):
        """For the messages of failed checks."""
        return "".join(f"[{rank}] {self.text(rank)}" for rank in range(self.size))

    def send_signal(self, rank, number):
        self.launcher.ranks[rank].send_signal(number)

    def kill(self, rank):
        """When it was killed."""
        self.send_signal(rank, signal.SIGKILL)
        return time.monotonic()

    def pid(self, rank):
        return self.launcher.ranks[rank].pid

    def beats(self, rank):
        """How often a rank went round."""
        try:
            content = (self.folder / f"beat.{rank}").read_bytes()
        except FileNotFoundError:
            return 0
        return struct.unpack("Q", content)[0] if len(content) == 8 else 0

    def await_beats(self, count=1, limit_s=30, ranks=None):
        """Until these ranks (all) have gone round so often from now on."""
        goal = [self.beats(rank) for rank in range(self.size)]
        for rank in ranks or range(self.size):
            goal[rank] += count
        self._await(goal, limit_s)

    def await_start(self, limit_s=30):
        """Until every rank has gone round once."""
        self._await([1] * self.size, limit_s)

    def _await(self, goal, limit_s):
        wait_until(lambda: all(self.beats(rank) >= goal[rank] for rank in range(self.size)) or self.ended(),
                   "ranks that go round", limit_s)
        if self.ended():
            raise AssertionError(f"the job has ended: {self.all_text()}")

    def touch(self, name):
        (self.folder / name).touch()

    def has(self, name):
        return (self.folder / name).exists()

    def ended(self):
        return self.launcher.poll() is not None

    def wait(self, limit_s=60):
        """The exit status."""
        status = self.launcher.wait(limit_s)
        if status is None:
            raise AssertionError(f"the job did not end within {limit_s} s: {self.all_text()}")
        return status

    def end(self):
        """Nothing is left of it, whatever has happened."""
        self.launcher.end()
        self.scratch.cleanup()


class JobsTest(hosts.HostsTest):
    """Two hosts with a cable between them for each test, and jobs."""

    NETWORK = ("10.1.0.1/24", "10.1.0.2/24")  # None: no cable

    def setUp(self):
        super().setUp()
        self.jobs = []
        if self.NETWORK:
            hosts.link(self.one, "eth0", self.other, "eth0", self.NETWORK)

    def tearDown(self):
        for job in self.jobs:
            job.end()
        super().tearDown()

    def start(self, *words, places=None, **options):
        self.jobs.append(Job(places or (self.one, self.other), *words, **options))
        return self.jobs[-1]

    def assert_goes_well(self, job):
        """It goes on, and ends well when it is told to."""
        job.await_beats(2, ranks=(0, 1))
        job.touch("stop")
        self.assertEqual(job.wait(), 0, job.all_text())

    def await_text(self, job, rank, *words, since=None):
        """Until a rank has said all of these words; within the time that is promised from `since` on."""
        since = since or time.monotonic()
        left = PROMISED_S - (time.monotonic() - since)
        try:
            wait_until(lambda: all(word in job.text(rank) for word in words), f"{words} of rank {rank}", max(left, 1))
        except AssertionError as problem:
            raise AssertionError(f"{problem}: {job.all_text()}") from None
