# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""MPI programs that spawn and publish, under mpiexec and alone: family.c."""
import os
import subprocess

from support import LauncherTest

FAMILY = os.environ["FAMILY"]


class Family(LauncherTest):
    def lines(self, *words, ranks=1, options=(), **more):
        result = self.run_job(*options, "-n", ranks, FAMILY, *words, **more)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        return sorted(result.stdout.splitlines())

    def tree(self, depth, children):
        """What all generations print, each of whose processes but rank 0 only listens."""
        return sorted(f"depth {d} rank {rank} of {children} heard {41 + d}" for d in range(depth)
                      for rank in range(children))

    def test_children_hear_and_answer(self):
        for ranks in (1, 3):
            self.assertEqual(self.lines("tree", 1, 2, ranks=ranks), self.tree(1, 2))

    def test_five_generations(self):
        self.assertEqual(self.lines("tree", 5, 1), self.tree(5, 1))

    def test_without_a_launcher(self):
        result = subprocess.run([FAMILY, "tree", "2", "2"], cwd=self.folder, env=self.environment(None), check=False,
                                text=True, capture_output=True, timeout=60)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sorted(result.stdout.splitlines()), self.tree(2, 2))

    def test_two_commands_are_two_programs_of_one_job(self):
        self.assertEqual(self.lines("several", 2), sorted(
            ["rank 0: 4 processes", *(f"child {rank} of 4 app {rank // 2}" for rank in range(4))]))

    def test_a_program_that_is_not_there_is_an_error_everywhere(self):
        lines = self.lines("missing", ranks=2)
        self.assertEqual(len([line for line in lines if line.endswith(": class MPI_ERR_SPAWN")]), 2, lines)
        self.assertIn("/no/such/program", "\n".join(lines))

    def test_children_without_mpi_are_noticed(self):
        lines = self.lines("silent")
        self.assertIn("rank 0: class MPI_ERR_SPAWN", lines)
        self.assertIn("have ended with exit code 0", "\n".join(lines))

    def test_names(self):
        lines = "\n".join(self.lines("names", ranks=2))
        for text in ("open: ok", "publish: ok", "publish again: MPI_ERR_SERVICE", "lookup: ok", "accept: ok",
                     "connect: ok", "lookup of another: MPI_ERR_NAME", "unpublish: ok",
                     "unpublish again: MPI_ERR_SERVICE"):
            self.assertIn(text, lines)

    def test_universe(self):
        self.assertEqual(self.lines("universe", options=("-usize", "9")), ["universe 9"])
        self.assertEqual(self.lines("universe", ranks=2, options=("-usize", "1")), ["universe 2"] * 2)

    def test_what_carries_messages_to_other_jobs_is_shown(self):
        """fulmar info --peers in a process that was spawned."""
        for fabric, provider, way in (("shm", "shm", "shared memory of this host"), ("tcp", "tcp", "")):
            lines = self.lines("run", os.environ["FULMAR"], "info", "--peers", ranks=2, env={"FULMAR_FABRIC": fabric})
            shown = [line for line in lines if "another job" in line]
            self.assertEqual(len(shown), 2, lines)
            for rank, line in enumerate(shown):
                self.assertRegex(line, rf"^{provider} +another job.*{way}: rank {rank} of job [0-9a-f]{{8}}$")
