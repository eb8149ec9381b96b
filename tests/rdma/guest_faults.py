# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Runs in a guest (test_faults.py): what can go wrong with an adapter, its port, the memory for it and the peer, in the
middle of a job of two ranks. The job goes on, or each rank that is alive ends within 10 s with a text that names
device, peer, cause and remedy.

With FULMAR_TEST_EVERY_PATH=1, as in the soak, every accident meets every kind of traffic.
"""

import os
import pathlib
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["FULMAR_SOURCE_DIR"])
sys.path.insert(0, str(SOURCE / "tests" / "cluster"))
import patient_launcher  # noqa: E402  pylint: disable=wrong-import-position

EVERY_PATH = "FULMAR_TEST_EVERY_PATH" in os.environ
PROGRAM, BREAKER = BUILD / "tests" / "fault_peer", BUILD / "tests" / "queue_breaker.so"
# What is promised is 10 s; the rest is for an emulated machine.
PROMISED_S = 13
START_S = 60
INTERFACE, DEVICE = "eth0", "rxe0"
LOST = (r"fulmar: rank {own} of 2: .*lost rank {other} at 10\.77\.0\.1, over verbs on rxe0:1: .*({cause}).*; "
        r"(run fulmar doctor on both hosts|see what it has printed)")
WITHOUT_LOCKED_MEMORY = ("setpriv", "--bounding-set=-ipc_lock", "--inh-caps=-ipc_lock", "sh", "-c")
NO_ANSWER, FLUSHED, ENDED = "transport retry counter exceeded", "Work Request Flushed Error", "its process has ended"
WAYS = ("fetch", "put")
OVERRUN = "CQ error"
NO_MEMORY = "remote access error"  # of a process that ends: its memory is closed before its connections are


def system(*words):
    subprocess.run(words, check=True)


def wait_until(condition, limit_s):
    """Whether it came true in time."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


class Job:
    """Two ranks of fault_peer, with nothing but verbs between them unless `settings` say so. The launcher ends
    nobody."""

    def __init__(self, what, settings, wrapper=()):
        self.scratch = tempfile.TemporaryDirectory(prefix="fulmar-faults-")
        self.folder = pathlib.Path(self.scratch.name)
        command = [PROGRAM, self.folder, what]
        if wrapper:  # ends with a shell's -c
            command = [*wrapper[:-1], f'{wrapper[-1]} exec "$0" "$@"', *command]
        env = {"PATH": os.environ["PATH"], "LD_PRELOAD": str(BREAKER), "FULMAR_FABRIC": "verbs", **settings}
        texts = [self.folder / f"text.{rank}" for rank in range(2)]
        self.launcher = patient_launcher.Launcher([command] * 2, texts, env)

    def text(self, rank):
        file = self.folder / f"text.{rank}"
        return file.read_text() if file.exists() else ""

    def damage(self, rank, number, done, attempts=100):
        """Sends a signal of queue_breaker.c until it did something; whether it did."""
        for attempt in range(1, attempts + 1):
            self.launcher.ranks[rank].send_signal(number)
            if not wait_until(lambda: self.text(rank).count(done) >= attempt, 5):
                return False
            if re.search(f"^[1-9][0-9]* {done}$", self.text(rank), re.MULTILINE):
                return True
        return False

    def both(self):
        return f"[0] {self.text(0)}[1] {self.text(1)}"

    def beats(self, rank):
        file = self.folder / f"beat.{rank}"
        content = file.read_bytes() if file.exists() else b""
        return struct.unpack("Q", content)[0] if len(content) == 8 else 0

    def ended(self):
        return self.launcher.poll() is not None

    def end(self):
        self.launcher.end()
        self.scratch.cleanup()


class FaultTest(unittest.TestCase):
    def start(self, what, wrapper=(), **settings):
        job = Job(what, settings, wrapper)
        self.addCleanup(job.end)
        return job

    def start_and_await(self, what, count=2, **options):
        job = self.start(what, **options)
        self.await_beats(job, count)
        return job

    def await_beats(self, job, count):
        goal = [job.beats(rank) + count for rank in range(2)]
        wait_until(lambda: all(job.beats(rank) >= goal[rank] for rank in range(2)) or job.ended(), START_S)
        self.assertTrue(all(job.beats(rank) >= goal[rank] for rank in range(2)) and not job.ended(), job.both())

    def assert_lost(self, job, own, cause, since):
        """The rank says that it has lost the other one, and ends, within the promised time."""
        rank = job.launcher.ranks[own]
        in_time = wait_until(lambda: rank.poll() is not None, PROMISED_S - (time.monotonic() - since))
        self.assertTrue(in_time, f"rank {own} still runs: {job.both()}")
        self.assertNotEqual(rank.poll(), 0, job.both())
        self.assertRegex(job.text(own), LOST.format(own=own, other=1 - own, cause=cause))

    def assert_goes_well(self, job):
        self.await_beats(job, 2)
        (job.folder / "stop").touch()
        self.assertTrue(wait_until(job.ended, START_S), job.both())
        self.assertEqual(job.launcher.poll(), 0, job.both())

    def with_kinds(self, check, *few):
        """Calls check(traffic, settings) for some kinds of traffic; in the soak for all of them."""
        every = [(what, way) for what in ("talk", "stream", "collective") for way in WAYS]
        for what, way in every if EVERY_PATH else few:
            with self.subTest(what=what, way=way):
                check(what, {"FULMAR_RDMA": way})


class Queue(FaultTest):
    """A queue pair goes into the error state."""

    def break_queues(self, job, rank):
        since = time.monotonic()
        self.assertTrue(job.damage(rank, signal.SIGUSR1, "queue pairs broken"), job.both())
        return since

    def test_alone(self):
        """Who uses the broken queue learns it from there, the other one from the silence, or from the end of the
        process, whichever is first."""
        def check(what, settings):
            job = self.start_and_await(what, **settings)
            since = self.break_queues(job, 1)
            for own in range(2):
                self.assert_lost(job, own, f"{NO_ANSWER}|{ENDED}|{FLUSHED}", since)
            self.assertRegex(job.both(), f"{NO_ANSWER}|{FLUSHED}")
        self.with_kinds(check, ("talk", "fetch"))

    def test_with_another_rail(self):
        def check(what, settings):
            job = self.start_and_await(what, FULMAR_RAILS="verbs+tcp", **settings)
            self.break_queues(job, 1)
            self.assert_goes_well(job)
        self.with_kinds(check, ("stream", "fetch"))


class Completions(FaultTest):
    """A completion queue is overrun: what it would have told is lost, so nothing of that adapter can be relied on.
    With many messages on the way: the first completion still fits into the shortened queue, where nobody sees it."""

    def overrun(self, way, **settings):
        job = self.start_and_await("stream", FULMAR_RDMA=way, **settings)
        since = time.monotonic()
        self.assertTrue(job.damage(1, signal.SIGUSR2, "completion queues shortened"), job.both())
        return job, since

    def test_alone(self):
        for way in WAYS:
            with self.subTest(way=way):
                job, since = self.overrun(way)
                for own in range(2):
                    self.assert_lost(job, own, f"{NO_ANSWER}|{ENDED}|{OVERRUN}|{NO_MEMORY}", since)
                self.assertRegex(job.text(1), OVERRUN)

    def test_with_another_rail(self):
        for way in WAYS:
            with self.subTest(way=way):
                job, _ = self.overrun(way, FULMAR_RAILS="verbs+tcp")
                self.assert_goes_well(job)


class Peer(FaultTest):
    """A process is killed in the middle of long messages."""

    def test_either_side(self):
        def check(what, settings):
            for victim in range(2):
                job = self.start_and_await(what, **settings)
                since = time.monotonic()
                job.launcher.ranks[victim].kill()
                self.assert_lost(job, 1 - victim, f"{ENDED}|{NO_ANSWER}|{NO_MEMORY}", since)
        self.with_kinds(check, ("stream", "fetch"), ("stream", "put"))


class Memory(FaultTest):
    """The limit on locked memory."""

    def test_none_at_all(self):
        since = time.monotonic()
        job = self.start("talk", wrapper=(*WITHOUT_LOCKED_MEMORY, "ulimit -l 0;"))
        self.assertTrue(wait_until(job.ended, PROMISED_S), job.both())
        self.assertLess(time.monotonic() - since, PROMISED_S)
        self.assertNotEqual(job.launcher.poll(), 0)
        for rank in range(2):
            self.assertRegex(job.text(rank), r"rxe0:1.*Operation not permitted.*ulimit -l")

    def test_none_and_another_network(self):
        job = self.start("talk", wrapper=(*WITHOUT_LOCKED_MEMORY, "ulimit -l 0;"), FULMAR_FABRIC="verbs,tcp")
        self.assert_goes_well(job)
        self.assertRegex(job.both(), r"ulimit -l.*the network tcp is tried instead")

    def test_enough_for_packets_alone(self):
        """Memory of the program cannot be registered: its bytes are sent in packets."""
        job = self.start("stream", wrapper=(*WITHOUT_LOCKED_MEMORY, "ulimit -l 7000;"))
        self.assert_goes_well(job)


class Port(FaultTest):
    """Nothing leaves a port that is down. (soft-RoCE gives up at once then, as there is no route; what a wire swallows
    for a while is sent again: soak_hosts.py.)"""

    def tearDown(self):
        system("ip", "link", "set", INTERFACE, "up")

    def test_down_for_good(self):
        def check(what, settings):
            job = self.start_and_await(what, **settings)
            since = time.monotonic()
            system("ip", "link", "set", INTERFACE, "down")
            for own in range(2):
                self.assert_lost(job, own, f"{NO_ANSWER}|{ENDED}|local QP operation error", since)
            system("ip", "link", "set", INTERFACE, "up")
        self.with_kinds(check, ("stream", "fetch"))


class Removed(FaultTest):
    """The device is taken away. A driver that can cut programs off tells them, and the job ends; soft-RoCE waits for
    them, and the job goes on. Nobody is left hanging."""

    def setUp(self):
        self.removal = None

    def tearDown(self):
        if self.removal is not None:
            self.removal.wait(START_S)
            system("rdma", "link", "add", DEVICE, "type", "rxe", "netdev", INTERFACE)

    def test_device(self):
        job = self.start_and_await("talk")
        since = time.monotonic()
        self.removal = subprocess.Popen(["rdma", "link", "delete", DEVICE])  # pylint: disable=consider-using-with
        time.sleep(1)  # an accident; nothing is waited for
        goal = [job.beats(rank) + 2 for rank in range(2)]
        wait_until(lambda: all(job.beats(rank) >= goal[rank] for rank in range(2)) or job.ended(), PROMISED_S)
        if job.ended():
            for own in range(2):
                self.assert_lost(job, own, "", since)
        else:
            self.assert_goes_well(job)


if __name__ == "__main__":
    unittest.main(verbosity=2)
