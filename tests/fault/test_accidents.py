# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Ranks that end, stop or multiply in the middle of a long message."""

import itertools
import os
import signal

from fault_support import FAULT_RANK, FaultTest
from support import LIMIT_S, alive, holders_of_job_memory, wait_until

WAYS = ({}, {"FULMAR_LONG_COPY": "share"}, {"FULMAR_SINGLE_COPY": "0"}, {"FULMAR_SHARE_BYTES": "1G"})


class Ends(FaultTest):
    def expect(self, how, code, text):
        for ranks, env in itertools.product((2, 4), WAYS):
            with self.subTest(ranks=ranks, env=env):
                result = self.run_fault(ranks, how, env=env, timeout=60)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertRegex(result.stderr, rf"rank 1 of {ranks} .*{text}")

    def test_exit_without_finalize(self):
        self.expect("leave", 1, "without calling MPI_Finalize")

    def test_crash(self):
        self.expect("crash", 139, "SIGSEGV")

    def test_kill(self):
        self.expect("kill", 137, "SIGKILL")


class NothingLeft(FaultTest):
    """One second after SIGKILL in the middle of a long message there is no process and no memory."""


    def start(self, ranks, env):
        for old in self.folder.glob("up.*"):
            old.unlink()
        process = self.start_job("-n", ranks, FAULT_RANK, "busy", env=env)
        words = [text.split() for text in self.wait_for_files(*(f"up.{rank}" for rank in range(ranks)))]
        pids = [int(pid) for pid, _ in words]
        inode = int(words[0][1])
        self.assertTrue(all(alive(pid) for pid in pids))
        self.assertTrue(holders_of_job_memory(inode))
        return process, pids, inode

    def assert_nothing_left(self, pids, inode):
        wait_until(lambda: not any(alive(pid) for pid in pids), f"end of {pids}", LIMIT_S)
        wait_until(lambda: not holders_of_job_memory(inode), "end of the job's memory", LIMIT_S)

    def test_sigkill_of_a_rank(self):
        for env in WAYS:
            with self.subTest(env=env):
                process, pids, inode = self.start(3, env)
                os.kill(pids[1], signal.SIGKILL)
                self.assert_nothing_left(pids, inode)
                self.assertEqual(process.wait(timeout=20), 137)

    def test_sigkill_of_mpiexec(self):
        for env in WAYS:
            with self.subTest(env=env):
                process, pids, inode = self.start(3, env)
                process.kill()
                self.assert_nothing_left(pids, inode)


class GoesOn(FaultTest):
    def test_stopped_rank(self):
        for env in WAYS:
            with self.subTest(env=env):
                self.run_traffic(3, "stop", env=env)

    def test_fork(self):
        for ranks, env in itertools.product((1, 2), WAYS):
            with self.subTest(ranks=ranks, env=env):
                self.run_traffic(ranks, "fork", env=env)


class SecondProcess(FaultTest):
    """The environment makes a process a rank; a second one with the same must not become it, too."""

    def test_child_of_a_rank(self):
        result = self.run_traffic(2, "again")
        self.assertIn("FULMAR_JOB_FD", result.stderr)

    def test_one_program_after_the_other(self):
        """Once the first has finalized and gone, the place is free (tests/launcher/test_again.py has more)."""
        result = self.run_job("-n", 2, *self.sh(f"{FAULT_RANK} traffic && {FAULT_RANK} traffic"))
        self.assertEqual(result.returncode, 0, result.stderr)
