# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A throw-away source tree for the tests of the checkers."""

import pathlib
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]


class TreeTest(unittest.TestCase):
    """A test with an empty folder `self.root` and helpers to fill it and to run a tool."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="fulmar-test-")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    def run_tool(self, tool, *arguments, env=None):
        return subprocess.run([ROOT / "tools" / tool, *arguments], capture_output=True, text=True,
                              env=env, check=False)
