# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What can go wrong with adapters, in a guest with a soft-RoCE device: guest_faults.py says what is tried."""

import os
import re
import unittest

import support
from support import BUILD, SOURCE, Step

ACCIDENTS = ("Queue", "Completions", "Peer", "Memory", "Port", "Removed")  # the last one takes the device away
EVERY_PATH = "FULMAR_TEST_EVERY_PATH"
NEEDED = [BUILD / "tests" / "fault_peer", BUILD / "tests" / "queue_breaker.so"]
LACKING = support.lacks_verbs() or next((f"{file} was not built" for file in NEEDED if not file.exists()), "")


def steps():
    settings = {"FULMAR_BUILD_DIR": BUILD, "FULMAR_SOURCE_DIR": SOURCE}
    if EVERY_PATH in os.environ:
        settings[EVERY_PATH] = "1"
    return [Step(name, 600 if EVERY_PATH in os.environ else 180,
                 ["python3", "-B", SOURCE / "tests" / "rdma" / "guest_faults.py", name], settings)
            for name in ACCIDENTS]


@unittest.skipIf(LACKING, f"verbs: {LACKING}")
class Faults(support.GuestTest):
    @classmethod
    def setUpClass(cls):
        support.prepare()
        cls.results, cls.everything = support.run_steps(steps(), timeout_s=1700)

    def test_accidents(self):
        for name in ACCIDENTS:
            with self.subTest(accident=name):
                text = self.passed(name)
                self.assertRegex(text, re.compile(r"^Ran [1-9]\d* tests? in", re.MULTILINE))


support.main()
