# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Networks and ranks that break in the middle of a job: it goes on, or ends soon with a text that says what happened.

With FULMAR_TEST_EVERY_PATH=1, as in the soak, what takes longer too.
"""

import os
import pathlib
import re
import signal
import tempfile
import time

import network_job
from network_job import JobsTest
from support import BUILD, MPIEXEC, environment, main, run, wait_until

EVERY_PATH = "FULMAR_TEST_EVERY_PATH" in os.environ
# A stop, or a cut, that has to be survived; in the soak a stop lasts longer than any deadline.
CUT_S = 2.0
STOP_S = 14.0 if EVERY_PATH else 2.0
LOST = r"fulmar: rank {own} of {size}: .*lost rank {other} at 10\.1\.0\.{end}:\d+: "
SILENCE = "answered nothing for|Connection timed out|No route to host|Network is unreachable|Host is unreachable"
CLOSED = "closed without a word|Connection reset|Broken pipe"


def let_pass(seconds):
    """The time that an accident lasts; nothing is waited for."""
    time.sleep(seconds)


class FaultTest(JobsTest):
    def assert_lost(self, job, own, other, cause, since):
        """Rank `own` says within the promised time that it has lost rank `other`, with address and cause."""
        pattern = LOST.format(own=own, other=other, size=job.size, end=1 + other % 2) + f".*({cause})"
        self.await_text(job, own, f"lost rank {other}", since=since)
        self.assertRegex(job.text(own), pattern)

    def assert_failed(self, job):
        self.assertNotEqual(job.wait(20), 0, job.all_text())


class Cut(FaultTest):
    """The cable."""

    WHATS = ("talk", "stream", "collective")

    def test_short(self):
        jobs = [self.start(what) for what in self.WHATS]
        for job in jobs:
            job.await_beats(3)
        for _ in range(3 if EVERY_PATH else 1):
            self.one.ip("link set eth0 down")
            let_pass(CUT_S)
            self.one.ip("link set eth0 up")
            for job in jobs:
                job.await_beats(3)
        for job in jobs:
            self.assert_goes_well(job)

    def test_for_good(self):
        """Both sides learn of it: who sends, who waits for an answer, who only listens. No end of a connection and no
        reset arrives; a host that is gone looks the same."""
        jobs = {what: self.start(what) for what in (*self.WHATS, "listen")}
        for what, job in jobs.items():
            job.await_start()
        self.one.ip("link set eth0 down")
        since = time.monotonic()
        for what, job in jobs.items():
            with self.subTest(what=what):
                self.assert_lost(job, 0, 1, SILENCE, since)
                if what != "listen":  # there rank 1 computes
                    self.assert_lost(job, 1, 0, SILENCE, since)
                    self.assert_failed(job)

    def test_one_direction(self):
        """What one host sends goes nowhere; what the other sends arrives, and says that nothing does."""
        for deaf, mute, address in ((1, self.one, "10.1.0.2"), (0, self.other, "10.1.0.1")):
            with self.subTest(deaf=deaf):
                jobs = [self.start(what) for what in ("talk", "stream")]
                for job in jobs:
                    job.await_beats(3)
                mute.ip(f"neigh replace {address} lladdr 02:00:00:00:00:99 dev eth0 nud permanent")
                since = time.monotonic()
                for job in jobs:
                    self.await_text(job, 0, "lost rank 1", since=since)
                    self.await_text(job, 1, "lost rank 0", since=since)
                    self.assert_lost(job, deaf, 1 - deaf, SILENCE, since)
                    self.assert_failed(job)
                mute.ip(f"neigh del {address} dev eth0")


class Killed(FaultTest):
    """SIGKILL: its system ends the connections."""

    def test_rank(self):
        cases = [(what, victim) for what in ("talk", "stream", "collective") for victim in (0, 1)]
        for what, victim in [*cases, ("listen", 1)]:
            with self.subTest(what=what, victim=victim):
                job = self.start(what)
                job.await_start()
                since = job.kill(victim)
                self.assert_lost(job, 1 - victim, victim, CLOSED, since)
                self.assert_failed(job)

    def test_one_of_many(self):
        """Those that never talked to it learn of the end from the launcher."""
        job = self.start("collective", places=(self.one, self.other, self.one, self.other), obeys_aborts=True)
        job.await_beats(3)
        since = job.kill(3)
        self.assert_failed(job)
        self.assertLess(time.monotonic() - since, network_job.PROMISED_S)
        # By the connection, or by one whose connection ended earlier.
        self.assertRegex(job.all_text(), f"lost rank 3 at [0-9.]+:[0-9]+: .*({CLOSED})|rank 3 has failed: rank [01] has lost it")

    def test_host(self):
        """The host is gone with everything in it: nothing says so."""
        jobs = [self.start(what) for what in ("stream", "listen")]
        for job in jobs:
            job.await_start()
        self.other.ip("link set eth0 down")
        since = time.monotonic()
        for job in jobs:
            job.kill(1)
        for job in jobs:
            self.assert_lost(job, 0, 1, SILENCE, since)
            self.assert_failed(job)


class Stopped(FaultTest):
    """A process that is stopped, or computes, is not dead, however long it takes."""

    def test_in_traffic(self):
        jobs = [self.start(what) for what in ("talk", "stream", "collective")]
        for job in jobs:
            job.await_beats(3)
        for victim in (0, 1):
            for job in jobs:
                job.send_signal(victim, signal.SIGSTOP)
            let_pass(STOP_S)
            for job in jobs:
                job.send_signal(victim, signal.SIGCONT)
            for job in jobs:
                job.await_beats(3)
        for job in jobs:
            self.assert_goes_well(job)

    def test_in_the_handshake(self):
        job = self.start("stopped")
        wait_until(lambda: job.beats(0) > 0, "rank 0 that sends")
        let_pass(STOP_S)
        self.assertFalse(job.ended(), job.all_text())
        job.send_signal(1, signal.SIGCONT)
        self.assertEqual(job.wait(), 0, job.all_text())

    def test_in_the_handshake_and_killed(self):
        job = self.start("stopped")
        wait_until(lambda: job.beats(0) > 0, "rank 0 that sends")
        job.kill(1)
        self.await_text(job, 0, "rank 1 cannot be reached from rank 0", "10.1.0.2")
        self.assert_failed(job)


class Flood(FaultTest):
    def memory_kb(self, job, rank):
        status = pathlib.Path(f"/proc/{job.pid(rank)}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])

    def test_receiver_that_posts_nothing(self):
        """It takes no more than the window and what sockets hold; then all of it, the last message first."""
        messages = 100000 if EVERY_PATH else 20000
        job = self.start("flood", messages)
        wait_until(lambda: job.has("flooded") and job.has("pid.1"), "the flood", 60)
        quiet = self.memory_kb(job, 1)
        let_pass(0.5)
        self.assertLess(self.memory_kb(job, 1) - quiet, 1000)
        job.touch("drain")
        highest = quiet
        while not job.ended():
            try:
                highest = max(highest, self.memory_kb(job, 1))
            except (OSError, TypeError):
                pass
            time.sleep(0.01)
        self.assertEqual(job.wait(), 0, job.all_text())
        # What FULMAR_MEMORY grants, and some.
        self.assertLess(highest - quiet, 48 << 10)


class Ends(FaultTest):
    """Ranks that end without MPI_Finalize, or never call MPI_Init."""

    def test_exit_in_the_middle(self):
        job = self.start("leave")
        self.await_text(job, 0, "lost rank 1 at 10.1.0.2")
        self.assert_failed(job)

    def run_mpiexec(self, launcher, what):
        """Both ranks on this machine, but over tcp."""
        with tempfile.TemporaryDirectory(prefix="fulmar-faults-", dir=BUILD) as folder:
            ranks = "FAULT_PEER_RANK=${PMI_RANK:-$FULMAR_RANK}; export FAULT_PEER_RANK; "
            script = f"{ranks} exec {network_job.PROGRAM} {folder} {what} 2>>{folder}/text"
            result = run(launcher, "-n", 2, "sh", "-c", script, env=environment(FULMAR_FABRIC="tcp"), timeout=30)
            self.assertNotIn(result.returncode, (0, 124), result.stdout)
            return result.stdout + (pathlib.Path(folder) / "text").read_text()

    def test_exit_in_the_middle_under_mpiexec(self):
        text = self.run_mpiexec(MPIEXEC, "leave")  # whoever notices first
        self.assertRegex(text, "exited with code 0 without calling MPI_Finalize|lost rank 1 at 127.0.0.1:")

    def test_rank_that_never_comes(self):
        text = self.run_mpiexec(MPIEXEC, "absent")
        # From the network or from the memory of the job, whichever is first.
        self.assertRegex(text, "rank 1 (of the job cannot take part|cannot be reached): its process has ended without MPI_Init")


if __name__ == "__main__":
    main()
