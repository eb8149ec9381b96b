# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
import os
import time

from support import FAKE_RANK, LauncherTest


class Outcome(LauncherTest):
    def test_success_is_zero_and_silent(self):
        result = self.run_job("-n", 4, FAKE_RANK, "init", "barrier", "finalize")
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))

    def test_program_without_mpi_is_fine(self):
        self.assertEqual(self.run_job("-n", 4, "true").returncode, 0)

    def test_exit_code_of_the_first_failing_rank(self):
        result = self.run_job("-n", 3, FAKE_RANK, "only", 1, "exit", 7, "all", "wait")
        self.assertEqual(result.returncode, 7)
        self.assertRegex(result.stderr, r"rank 1 of 3 \(.*fake_rank, pid \d+\) exited with code 7")

    def test_failure_after_finalize_counts(self):
        result = self.run_job("-n", 2, FAKE_RANK, "init", "barrier", "finalize", "only", 0, "exit", 5)
        self.assertEqual(result.returncode, 5)

    def test_exit_without_finalize_is_an_error(self):
        result = self.run_job("-n", 4, FAKE_RANK, "init", "barrier", "only", 2, "exit", 0, "all", "wait")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"rank 2 of 4 .* without calling MPI_Finalize")

    def test_all_exit_without_finalize(self):
        self.assertEqual(self.run_job("-n", 2, FAKE_RANK, "init").returncode, 1)

    def test_abort_code_is_the_exit_code(self):
        for code, expected in ((3, 3), (0, 1), (256, 1), (-1, 255)):
            result = self.run_job("-n", 2, FAKE_RANK, "init", "barrier", "only", 1, "abort", code, "all", "wait")
            self.assertEqual(result.returncode, expected)
            self.assertIn(f"called MPI_Abort with code {code}", result.stderr)

    def test_abort_behind_a_wrapper_ends_the_job(self):
        result = self.run_job("-n", 2, *self.sh("$FAKE_RANK init barrier only 1 abort 6 all wait; sleep 1000"))
        self.assertEqual(result.returncode, 6)
        self.assertIn("rank 1 of 2 (sh,", result.stderr)

    def test_signal_is_128_plus_its_number(self):
        for number, name in ((9, "SIGKILL"), (11, "SIGSEGV"), (6, "SIGABRT")):
            result = self.run_job("-n", 2, FAKE_RANK, "init", "barrier", "only", 1, "kill", number, "all", "wait")
            self.assertEqual(result.returncode, 128 + number)
            self.assertRegex(result.stderr, rf"rank 1 of 2 .* killed by signal {number} \({name}\)")

    def test_ranks_that_ignore_sigterm_are_killed_soon(self):
        begin = time.monotonic()
        result = self.run_job("-n", 2, *self.sh("trap '' TERM; [ $FULMAR_RANK = 1 ] && exit 9; "
                                                "while :; do sleep 0.1; done"))
        self.assertEqual(result.returncode, 9)
        self.assertLess(time.monotonic() - begin, 10)

    def test_others_get_the_time_to_clean_up(self):
        result = self.run_job("-n", 2, *self.sh(
            "if [ $FULMAR_RANK = 0 ]; then trap 'echo cleaned > cleaned; exit 0' TERM; echo > up; "
            "while :; do sleep 0.01; done; fi; until [ -s up ]; do sleep 0.01; done; exit 4"))
        self.assertEqual(result.returncode, 4)
        self.assertEqual((self.folder / "cleaned").read_text(), "cleaned\n")

    def test_timeout_is_124_and_says_so(self):
        result = self.run_job("--timeout", 0.2, "-n", 2, FAKE_RANK, "forever")
        self.assertEqual(result.returncode, 124)
        self.assertIn("--timeout", result.stderr)

    def test_timeout_that_is_not_reached_does_nothing(self):
        self.assertEqual(self.run_job("--timeout", 60, "-n", 2, "true").returncode, 0)

    def test_one_message_for_many_failures(self):
        result = self.run_job("-n", 8, FAKE_RANK, "init", "barrier", "kill", 11)
        self.assertEqual(result.returncode, 139)
        self.assertEqual(result.stderr.count("mpiexec:"), 1, result.stderr)

    def test_output_before_the_failure_is_not_lost(self):
        result = self.run_job("-n", 2, *self.sh("seq 5000; exit $FULMAR_RANK"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("5000\n", result.stdout)

    def test_works_as_root(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        self.assertEqual(self.run_job("-n", 2, "id", "-u").stdout, "0\n0\n")
