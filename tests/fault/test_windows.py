# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A rank is killed in the middle of one-sided communication under --on-failure=continue."""

import os

from fault_support import SANITIZED, FaultTest

WINDOWS = os.environ["FAULT_WINDOWS"]


class Windows(FaultTest):
    def expect_survival(self, case):
        for network in ("shm", "tcp"):
            for kind in ("create", "allocate"):
                with self.subTest(case=case, network=network, kind=kind):
                    result = self.run_job("-n", 4, "--on-failure=continue", WINDOWS, case, kind,
                                          env={"FULMAR_FABRIC": network}, timeout=300 if SANITIZED else 60)
                    lines = result.stderr.splitlines()
                    self.assertEqual(len(lines), 1, result.stderr)
                    self.assertRegex(lines[0], r"^mpiexec: rank 3 of 4 .*SIGKILL.*; the other ranks go on$")
                    self.assertEqual(result.returncode, 137, "that of the death")

    def test_fence(self):
        self.expect_survival("fence")

    def test_start(self):
        self.expect_survival("start")

    def test_wait(self):
        self.expect_survival("wait")

    def test_test(self):
        self.expect_survival("test")

    def test_leave(self):
        self.expect_survival("leave")

    def test_lock(self):
        self.expect_survival("lock")

    def test_accumulate(self):
        self.expect_survival("accumulate")
