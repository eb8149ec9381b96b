# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Programs under valgrind: what was received counts as initialised, and what was sent has to be."""

import os
import shutil
import unittest

from support import LauncherTest

PROGRAM = os.environ["CHECKED_MEMORY"]
FOUND = 9


@unittest.skipIf(shutil.which("valgrind") is None, "needs valgrind")
@unittest.skipIf(any(name in os.environ for name in ("ASAN_OPTIONS", "TSAN_OPTIONS")),
                 "a sanitizer and valgrind do not work together")
class Memcheck(LauncherTest):
    def check(self, ranks, *arguments, network="shm"):
        """Runs the program; gives its exit code and what memcheck says of each rank that says anything."""
        for old in self.folder.glob("log.*"):
            old.unlink()
        result = self.run_job("-n", ranks, "valgrind", "-q", f"--error-exitcode={FOUND}",
                              "--log-file=log.%q{FULMAR_RANK}", PROGRAM, *arguments,
                              env={"FULMAR_FABRIC": network}, timeout=300)
        logs = {path.suffix[1:]: path.read_text() for path in self.folder.glob("log.*")}
        self.assertEqual(len(logs), ranks, result.stderr)
        return result, {rank: text for rank, text in logs.items() if text}

    def test_what_was_received_is_initialised(self):
        for ranks, network in ((2, "shm"), (3, "shm"), (2, "tcp")):
            with self.subTest(ranks=ranks, network=network):
                result, reports = self.check(ranks, network=network)
                self.assertEqual(reports, {})
                self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_a_sender_of_what_was_never_written_is_named(self):
        for network in ("shm", "tcp"):
            with self.subTest(network=network):
                result, reports = self.check(2, "uninitialised", network=network)
                self.assertEqual(result.returncode, FOUND, result.stderr)
                self.assertEqual(list(reports), ["0"], "the receiver is not to blame")
                self.assertIn("ninitialised byte", reports["0"])
                self.assertRegex(reports["0"], r"(?s)MPI_Send.*send_uninitialised")
