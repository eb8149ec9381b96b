# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Ranks that run one MPI program after the other."""

import os
import pathlib
import sys
import unittest

from support import LauncherTest, holders_of_job_memory, wait_until

AGAIN = os.environ["AGAIN"]
MPI_RANK = os.environ["MPI_RANK"]
CLOSE_ALL = os.environ["CLOSE_ALL"]
NETWORKS = ("shm,tcp", "tcp")


def lines(labels, ranks):
    return sorted(f"{label}: {rank} of {ranks}, sum {ranks * (ranks - 1) // 2}"
                  for label in labels for rank in range(ranks))


class Again(LauncherTest):
    def assert_runs(self, labels, ranks, *program, env=None):
        result = self.run_job("--timeout", 100, "-n", ranks, *program, env=env, timeout=110)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sorted(result.stdout.splitlines()), lines(labels, ranks))

    def test_shell_that_runs_two_programs(self):
        for network in NETWORKS:
            with self.subTest(network=network):
                self.assert_runs((1, 2), 3, *self.sh(f"{AGAIN} 1 1; {AGAIN} 1 2"), env={"FULMAR_FABRIC": network})

    def test_program_that_executes_itself_after_finalize(self):
        for network in NETWORKS:
            with self.subTest(network=network):
                self.assert_runs((5, 6, 7), 2, AGAIN, 3, 5, env={"FULMAR_FABRIC": network})

    def test_both_together(self):
        self.assert_runs((1, 2, 3, 4), 2, *self.sh(f"{AGAIN} 2 1; exec {AGAIN} 2 3"))

    def test_descriptor_closed_on_the_way(self):
        code = "import subprocess, sys\nfor i in '12': subprocess.run([sys.argv[1], '1', i], check=True)"
        self.assert_runs((1, 2), 2, sys.executable, "-c", code, AGAIN)
        self.assert_runs((1, 2), 2, CLOSE_ALL, "none", "sh", "-c", f"{AGAIN} 1 1; {AGAIN} 1 2")

    def test_message_of_an_earlier_program_is_gone(self):
        for network in NETWORKS:
            with self.subTest(network=network):
                self.assert_runs((8,), 2, *self.sh(f"{AGAIN} pending; {AGAIN} 1 8"), env={"FULMAR_FABRIC": network})

    def test_ranks_that_are_programs_ahead_of_others(self):
        """Rank 0 has finished four programs when rank 1 begins its first: none of them needs the other."""
        os.mkfifo(self.folder / "go")
        run = f"{MPI_RANK} finalize || exit 1;"
        process = self.start_job("--timeout", 100, "-n", 2, *self.sh(
            f"if [ $FULMAR_RANK = 0 ]; then {4 * run} echo > go; else read x < go; {4 * run} fi; exec {AGAIN} 1 9"))
        out, said = process.communicate(timeout=110)
        self.assertEqual((process.returncode, said), (0, b""))
        self.assertEqual(sorted(out.decode().splitlines()), lines((9,), 2))

    def test_rank_that_lacks_the_second_program(self):
        result = self.run_job("--timeout", 60, "-n", 2, *self.sh(
            f"{AGAIN} 1 1; [ $FULMAR_RANK = 1 ] && exit 0; exec {AGAIN} 1 2"))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("rank 1 of the job cannot take part: its process has ended after 1 MPI program, without the one "
                      "that this rank runs now", result.stderr)

    def test_failure_of_the_second_program_is_the_job_s(self):
        result = self.run_job("-n", 2, *self.sh(f"{MPI_RANK} finalize; {MPI_RANK} abort 1 5; sleep 1000"))
        self.assertEqual(result.returncode, 5, result.stderr)
        self.assertRegex(result.stderr, "rank 1 of 2 .* MPI_Abort with code 5")
        result = self.run_job("-n", 2, *self.sh(f"{MPI_RANK} finalize; {MPI_RANK} leave 0 0; sleep 1000"))
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("which ended without calling MPI_Finalize", result.stderr)

    def test_two_programs_of_a_rank_at_the_same_time(self):
        """The first one holds the place, the other is refused."""
        result = self.run_job("--timeout", 60, "-n", 1, *self.sh(
            f"{MPI_RANK} sleep > pid & while [ ! -s pid ]; do :; done; {MPI_RANK} finalize; code=$?; "
            "kill $!; wait $!; exit $code"))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("which has not called MPI_Finalize", result.stderr)

    def test_child_of_a_program_that_has_finalized(self):
        result = self.run_job("--timeout", 60, "-n", 1, AGAIN, "parent")
        self.assertEqual(result.returncode, 16, result.stderr)
        self.assertIn("has called MPI_Finalize but has not ended", result.stderr)

    def test_memory_of_earlier_programs_is_given_back(self):
        """After a hundred programs mpiexec holds no more segments than after two."""
        script = f"i=0; while [ $i -lt 100 ]; do {MPI_RANK} finalize || exit 1; i=$((i + 1)); done; echo done; read x < go"
        os.mkfifo(self.folder / "go")
        process = self.start_job("-n", 2, *self.sh(script))
        for _ in range(2):
            self.assertEqual(process.stdout.readline(), b"done\n")
        fds = [os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{process.pid}/fd")]
        self.assertLessEqual(sum("memfd:fulmar-job" in name for name in fds), 3, fds)
        go = os.open(self.folder / "go", os.O_RDWR)  # stays open for a shell that comes late
        self.addCleanup(os.close, go)
        os.write(go, b"\n\n")
        process.communicate(timeout=60)

    def test_nothing_is_left_of_later_programs(self):
        process = self.start_job("-n", 2, *self.sh(f"{MPI_RANK} finalize; exec {MPI_RANK} sleep"))
        pids = [int(process.stdout.readline()) for _ in range(2)]
        maps = [line for pid in pids for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()]
        inodes = {int(line.split()[4]) for line in maps if "memfd:fulmar-job" in line}
        self.assertEqual(len(inodes), 1, "both are in the same job")
        process.kill()
        self.assert_gone(*pids)
        inode = inodes.pop()
        wait_until(lambda: not holders_of_job_memory(inode), "end of the job's memory")


if __name__ == "__main__":
    unittest.main()
