# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The same promises with the real library in the ranks."""

import os
import signal
import socket
import subprocess

from support import LIMIT_S, LauncherTest

MPI_RANK = os.environ["MPI_RANK"]
FORKER = os.environ["FORKER"]

PMI_ANSWERS = {
    "init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
    "get_maxes": "cmd=maxes kvsname_max=64 keylen_max=64 vallen_max=1024",
    "get_appnum": "cmd=appnum appnum=0",
    "get_my_kvsname": "cmd=my_kvsname kvsname=k",
    "get_universe_size": "cmd=universe_size size=1",
    "barrier_in": "cmd=barrier_out",
    "finalize": "cmd=finalize_ack",
}


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

    def test_end_of_a_forked_process_is_no_end_of_the_rank(self):
        """A launcher that speaks PMI-1 gets one "finalize" of a program that uses sessions only: its own."""
        ours, theirs = socket.socketpair()
        with ours, theirs, ours.makefile("rw", newline="\n") as stream:
            env = {**os.environ, "PMI_FD": str(theirs.fileno()), "PMI_RANK": "0", "PMI_SIZE": "1"}
            process = subprocess.Popen([FORKER, "session"], env=env, pass_fds=[theirs.fileno()])
            self.running.append(process)
            theirs.close()
            commands = []
            for line in stream:
                commands.append(line.split()[0].removeprefix("cmd="))
                stream.write(PMI_ANSWERS.get(commands[-1], "cmd=error rc=-1") + "\n")
                stream.flush()
            self.assertEqual(process.wait(timeout=20), 0)
        self.assertEqual(commands.count("finalize"), 1, commands)

    def test_what_a_rank_starts_does_not_hold_the_memory_of_the_job(self):
        result = self.run_job("-n", 2, MPI_RANK, "start", "readlink /proc/self/fd/*; true")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("pipe:", result.stdout)
        self.assertNotIn("fulmar-job", result.stdout)

    def test_death_of_a_rank_is_reported_by_mpiexec_alone(self):
        result = self.run_job("--timeout", 60, "-n", 128, MPI_RANK, "kill", 3)
        self.assertEqual(result.returncode, 137)
        self.assertRegex(result.stderr, r"^mpiexec: rank 3 of 128 [^\n]*SIGKILL[^\n]*\n$")

    def test_abort_of_a_program_with_sessions_only(self):
        result = self.run_job("--timeout", 60, "-n", 2, MPI_RANK, "session_abort", 1, 5)
        self.assertEqual(result.returncode, 5)
        self.assertRegex(result.stderr, r"fulmar: rank 1 of 2 called MPI_Abort\(")

    def test_abort_behind_a_shell(self):
        result = self.run_job("-n", 2, *self.sh(f"{MPI_RANK} abort 0 5; sleep 1000"))
        self.assertEqual(result.returncode, 5)
