# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The same promises with the real library in the ranks."""

import os
import signal
import subprocess

from support import LIMIT_S, LauncherTest

MPI_RANK = os.environ["MPI_RANK"]
FORKER = os.environ["FORKER"]


class Mpi(LauncherTest):
    def test_clean_run(self):
        result = self.run_job("-n", 4, MPI_RANK, "finalize")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_each_program_knows_how_many_ranks_it_has(self):
        result = self.run_job("-n", 1, MPI_RANK, "maxprocs", ":", "-n", 2, MPI_RANK, "maxprocs")
        self.assertEqual(sorted(result.stdout.split()), ["1=1", "2=2", "2=2"])

    def test_singleton_needs_no_mpiexec(self):
        self.assertEqual(os.spawnl(os.P_WAIT, MPI_RANK, MPI_RANK, "finalize"), 0)

    def test_abort_codes(self):
        for code, expected in ((1, 1), (42, 42), (0, 1), (300, 44)):
            result = self.run_job("-n", 3, MPI_RANK, "abort", 1, code)
            self.assertEqual(result.returncode, expected)
            self.assertRegex(result.stderr, rf"rank 1 of 3 .* MPI_Abort with code {code}")

    def test_exit_without_finalize(self):
        result = self.run_job("-n", 3, MPI_RANK, "leave", 2, 0)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"rank 2 of 3 .* without calling MPI_Finalize")

    def test_exit_code_without_finalize(self):
        self.assertEqual(self.run_job("-n", 3, MPI_RANK, "leave", 0, 9).returncode, 9)

    def start(self, ranks):
        process = self.start_job("-n", ranks, MPI_RANK, "sleep")
        return process, [int(process.stdout.readline()) for _ in range(ranks)]

    def test_killed_rank_ends_the_job(self):
        process, pids = self.start(3)
        os.kill(pids[0], signal.SIGKILL)
        self.assert_gone(*pids, limit_s=LIMIT_S)
        self.assertEqual(process.wait(timeout=20), 137)

    def test_killed_mpiexec_ends_the_job(self):
        process, pids = self.start(3)
        process.kill()
        self.assert_gone(*pids, limit_s=LIMIT_S)

    def test_abort_of_a_forked_process(self):
        for how in ("abort", "threads"):
            for program in ([FORKER, how], self.sh(f"{FORKER} {how}; exit $?")):
                with self.subTest(program=program):
                    result = self.run_job("--timeout", 60, "-n", 2, *program)
                    self.assertEqual(result.returncode, 6, result.stderr)
                    self.assertRegex(result.stderr, "rank 0 of 2 .* MPI_Abort with code 6")

    def test_abort_of_a_process_forked_by_one_without_mpiexec(self):
        for how in ("abort", "threads"):
            result = subprocess.run([FORKER, how], stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False)
            self.assertEqual(result.returncode, -signal.SIGTERM, result.stderr)

    def test_abort_behind_a_shell(self):
        result = self.run_job("-n", 2, *self.sh(f"{MPI_RANK} abort 0 5; sleep 1000"))
        self.assertEqual(result.returncode, 5)
