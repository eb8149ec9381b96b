# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Two groups of processes that meet while the root of one is killed, after each of its steps in turn."""

import os

from fault_support import REFUSED_WITHDRAWAL, SANITIZED, FaultTest

MEETING = os.environ["FAULT_MEETING"]
LIMIT_S = 200 if SANITIZED else 40
FEWEST_STEPS = 4
# Of the root that was killed, and of children that could not be initialized without it.
JOB = r"mpiexec: (spawned job \d+: )?rank \d of \d \(.*\) "
EXPECTED = (JOB + r"was killed by signal 9 \(SIGKILL\)(; .*)?|" + JOB + r"called MPI_Abort with code (43|16129)(; ending the other ranks)?|"
            r"fulmar: rank \d of \d: MPI_Init on MPI_COMM_SELF: (MPI_ERR_PORT|MPIX_ERR_PROC_FAILED): .*")


class Meeting(FaultTest):
    def check_steps(self, who, parents, children, network):
        """Until the root lives, as it takes fewer steps than that."""
        step = 0
        root_died = True
        while root_died:
            step += 1
            with self.subTest(step=step):
                result = self.outlive(parents, MEETING, who, step, children, network=network, limit_s=LIMIT_S)
                for line in result.stderr.splitlines():
                    self.assertRegex(line, f"^({EXPECTED}|{REFUSED_WITHDRAWAL})$")
                root_died = "was killed by signal 9" in result.stderr
                if not root_died:
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertGreater(step, FEWEST_STEPS)

    def test_root_dies(self):
        for network in ("shm", "tcp"):
            for who, parents, children in (("parent", 1, 1), ("parent", 3, 1), ("child", 2, 3)):
                with self.subTest(network=network, who=who, parents=parents, children=children):
                    self.check_steps(who, parents, children, network)

    def test_partners_die(self):
        for network in ("shm", "tcp"):
            with self.subTest(network=network):
                result = self.outlive(6, MEETING, "partners", 0, 2, network=network, limit_s=LIMIT_S)
                self.assertEqual(result.stderr.count("was killed by signal 9"), 2, result.stderr)
                self.assertEqual(len(result.stderr.splitlines()), 2, result.stderr)
