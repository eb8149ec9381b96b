# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Processes of the interfaces that are killed in the middle of transfers, with --on-failure=continue."""

import os
import subprocess
import unittest

MPIEXEC = os.environ["MPIEXEC"]
PROGRAMS = os.environ["DEATH_PROGRAMS"].split(":")
SECONDS = int(os.environ["DEATH_SECONDS"])


class Deaths(unittest.TestCase):
    def test_survivors_learn_and_go_on(self):
        for program in PROGRAMS:
            for fabric in ("shm", "tcp"):
                for ranks in (2, 3):
                    with self.subTest(program=os.path.basename(program), fabric=fabric, ranks=ranks):
                        self.run_program(program, fabric, ranks)

    def run_program(self, program, fabric, ranks):
        result = subprocess.run(
            [MPIEXEC, "--on-failure=continue", "-n", str(ranks), program],
            env={**os.environ, "FULMAR_FABRIC": fabric}, capture_output=True, text=True, timeout=SECONDS)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertRegex(lines[0], rf"^mpiexec: rank {ranks - 1} of {ranks} .*SIGKILL.*; the other ranks go on$")
        self.assertEqual(result.returncode, 137, "that of the one that was killed: the others ended well")


if __name__ == "__main__":
    unittest.main()
