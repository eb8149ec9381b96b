# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A rank that ends without MPI_Init, while others need it."""

import os
import unittest
from pathlib import Path

from support import LauncherTest, wait_until

NEEDS_ALL = os.environ["NEEDS_ALL"]
# A rank says what it waits for when it first sleeps. Before that it yields a thousand times, each of which takes
# milliseconds on a machine with other work.
os.environ.setdefault("FULMAR_WAIT", "sleep")
NETWORKS = ("shm,tcp", "tcp", "ofi")
ENDED = "its process has ended without MPI_Init or MPI_Session_init"


class MissingRank(LauncherTest):
    def has_network(self, name):
        if name != "ofi":
            return True
        return self.run_job("-n", 2, NEEDS_ALL, "alone", env={"FULMAR_FABRIC": name}).returncode == 0

    def without_rank_1(self, call, network, **options):
        script = f"[ $FULMAR_RANK = 1 ] && exit 0; exec {NEEDS_ALL} {call}"
        return self.run_job("--timeout", 60, "-n", 2, *self.sh(script), env={"FULMAR_FABRIC": network}, **options)

    def test_every_call_that_needs_it_ends_the_job_with_the_reason(self):
        calls = ("barrier", "allreduce", "ibarrier", "ssend", "long_send", "receive", "receive_any", "probe",
                 "test_loop", "isend")
        for network in filter(self.has_network, NETWORKS):
            for call in calls:
                with self.subTest(network=network, call=call):
                    result = self.without_rank_1(call, network)
                    self.assertEqual(result.returncode, 1, result.stderr)
                    self.assertIn(ENDED, result.stderr)
                    self.assertNotIn("left MPI", result.stderr)
                    self.assertNotIn("--timeout", result.stderr)

    def test_reason_names_call_and_rank(self):
        said = self.without_rank_1("receive", "shm,tcp").stderr
        self.assertIn("fulmar: rank 0 of 2: MPI_Recv on MPI_COMM_WORLD: MPIX_ERR_PROC_FAILED: rank 1 has failed: rank 1 "
                      "of the job cannot take part: " + ENDED, said)

    def test_call_that_does_not_need_it_goes_on(self):
        for network in filter(self.has_network, NETWORKS):
            result = self.without_rank_1("alone", network)
            self.assertEqual((result.returncode, result.stderr), (0, ""), network)

    @staticmethod
    def target_of(descriptor):
        """None if it has been closed since it was listed."""
        try:
            return os.readlink(descriptor)
        except FileNotFoundError:
            return None

    def run_with_line(self, call, network, rank_1="exit 0"):
        """Lets rank 1 end first, then gives rank 0 the line that it reads."""
        process = self.start_job("--timeout", 60, "-n", 2, *self.sh(
            f"echo > up.$FULMAR_RANK; [ $FULMAR_RANK = 1 ] && {rank_1}; exec {NEEDS_ALL} {call}"), env={"FULMAR_FABRIC": network},
            stdin=-1)

        def watched():
            """Processes that mpiexec watches: its guard, and ranks whose end it has not noted."""
            fds = Path(f"/proc/{process.pid}/fd")
            return sum(self.target_of(fd) == "anon_inode:[pidfd]" for fd in fds.iterdir())
        self.wait_for_files("up.0", "up.1")
        wait_until(lambda: watched() == 2, "end of rank 1")
        out, said = process.communicate(b"go\n", timeout=90)
        return process.returncode, out.decode(), said.decode()

    def test_short_message_that_is_never_received(self):
        for network in filter(self.has_network, NETWORKS):
            with self.subTest(network=network):
                code, _, said = self.run_with_line("isend_short", network)
                self.assertEqual(code, 1, said)
                self.assertIn(ENDED, said)

    def test_cancelled_send_completes(self):
        code, out, said = self.run_with_line("cancelled", "shm,tcp")
        self.assertEqual((code, out, said), (0, "cancelled 1\n", ""))

    def test_send_cancelled_after_its_receiver_has_left_completes(self):
        for network in filter(self.has_network, NETWORKS):
            with self.subTest(network=network):
                result = self.run_with_line("cancel_left", network, f"exec {NEEDS_ALL} cancel_left")
                self.assertEqual(result, (0, "cancelled 1\n", ""))

    def test_other_ranks_may_join_late(self):
        """A rank that has not called MPI_Init yet is waited for."""
        os.mkfifo(self.folder / "go")
        process = self.start_job("-n", 2, *self.sh(f"[ $FULMAR_RANK = 1 ] && read x < go; exec {NEEDS_ALL} barrier"))
        (self.folder / "go").write_text("\n")
        _, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, said), (0, b""))


if __name__ == "__main__":
    unittest.main()
