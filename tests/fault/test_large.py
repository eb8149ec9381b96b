# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Messages of more than 2 GiB on every path that long messages can take."""

import os
import pathlib
import time
import unittest

from fault_support import FAULT_LARGE, SANITIZED, FaultTest

GB = 1 << 30
NEEDED = 12 * GB
# Set by the long runs; else two paths have to do.
EVERY_PATH = os.environ.get("FULMAR_TEST_EVERY_PATH") == "1"


def available():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) << 10
    return 0


@unittest.skipIf(available() < NEEDED, f"needs {NEEDED // GB} GB of free memory")
@unittest.skipIf(SANITIZED, "takes minutes under a sanitizer")
class Large(FaultTest):
    def send(self, sender, receiver, **env):
        begin = time.monotonic()
        result = self.run_job("-n", 2, FAULT_LARGE, sender, receiver, env=env, timeout=200)
        self.assertEqual(result.returncode, 0, result.stderr)
        print(f"{sender} to {receiver} {env}: {time.monotonic() - begin:.1f} s", flush=True)

    def test_copied_by_both_sides(self):
        self.send("plain", "plain", FULMAR_LONG_COPY="share")

    def test_through_the_ring(self):
        self.send("plain", "plain", FULMAR_SINGLE_COPY="0")

    @unittest.skipUnless(EVERY_PATH, "only in long runs")
    def test_read_by_the_receiver(self):
        self.send("plain", "plain", FULMAR_SHARE_BYTES="1024G")

    @unittest.skipUnless(EVERY_PATH, "only in long runs")
    def test_read_into_blocks(self):
        self.send("plain", "blocks")

    @unittest.skipUnless(EVERY_PATH, "only in long runs")
    def test_out_of_blocks(self):
        self.send("blocks", "plain")

    @unittest.skipUnless(EVERY_PATH, "only in long runs")
    def test_from_blocks_to_blocks(self):
        self.send("blocks", "blocks", FULMAR_SINGLE_COPY="0")

    @unittest.skipUnless(EVERY_PATH, "only in long runs")
    def test_without_eager_messages(self):
        self.send("plain", "plain", FULMAR_EAGER_BYTES="0")

    @unittest.skipUnless(EVERY_PATH, "only in long runs")
    def test_everything_eager(self):
        self.send("plain", "plain", FULMAR_EAGER_BYTES="16G")

    @unittest.skipUnless(EVERY_PATH, "only in long runs")
    def test_in_collectives(self):
        for name in ("bcast", "allgatherv", "alltoallv", "reduce"):
            with self.subTest(name=name):
                self.send("collective", name)
