# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""tools/compile shows ninja's progress and errors; the builds are two rules long."""

import unittest

import tree

BUILD = """
rule make
  command = {command}
build first: make
build second: make first
"""


class Compile(tree.TreeTest):
    def run_compile(self, command, *targets):
        self.write("build.ninja", BUILD.format(command=command))
        return self.run_tool("compile", str(self.root), *targets)

    def test_success_says_how_many_steps(self):
        run = self.run_compile("touch $out")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"built: 2 steps in \d+ s\n$")
        self.assertTrue((self.root / "second").exists())

    def test_only_the_named_targets_are_built(self):
        run = self.run_compile("touch $out", "first")
        self.assertRegex(run.stdout, "built: 1 steps? in")
        self.assertFalse((self.root / "second").exists())

    def test_nothing_to_do_is_silent(self):
        self.run_compile("touch $out")
        run = self.run_compile("touch $out")
        self.assertEqual((run.returncode, run.stdout), (0, ""))

    def test_an_error_is_printed_and_returned(self):
        run = self.run_compile("echo broken by intent && false")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("broken by intent", run.stdout)
        self.assertNotIn("built:", run.stdout)


if __name__ == "__main__":
    unittest.main()
