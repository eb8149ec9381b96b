# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A program that was built with ThreadSanitizer, and the library that was not."""

import os
import unittest

from support import LauncherTest

PROGRAM = os.environ["CHECKED_THREADS"]
FOUND = 66


class ThreadSanitizer(LauncherTest):
    def check(self, ranks, *arguments, network="shm"):
        return self.run_job("-n", ranks, PROGRAM, *arguments, timeout=200,
                            env={"FULMAR_FABRIC": network, "TSAN_OPTIONS": f"exitcode={FOUND}"})

    def test_threads_that_are_ordered_by_mpi_have_no_race(self):
        for ranks, network in ((1, "shm"), (2, "shm"), (2, "tcp")):
            with self.subTest(ranks=ranks, network=network):
                result = self.check(ranks, network=network)
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_race_is_still_found(self):
        result = self.check(1, "race")
        self.assertEqual(result.returncode, FOUND, result.stderr)
        self.assertIn("data race", result.stderr)
