# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""tools/check_tour finds names that the code does not have."""

import unittest

import tree


class CheckTour(tree.TreeTest):
    def check(self, page):
        self.write("src/device/send.cc", "void Device::start_send(Operation& operation) {}\n")
        self.write("docs/tour.md", page)
        return self.run_tool("check_tour", "--root", str(self.root))

    def test_names_of_the_files_pass(self):
        run = self.check("# Tour\n`device/send.cc`: `Device::start_send()` takes an `Operation`.\n")
        self.assertEqual((run.returncode, run.stdout), (0, ""))

    def test_a_file_that_is_gone_is_named(self):
        run = self.check("# Tour\nSee `device/gone.cc`.\n")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stdout, "docs/tour.md:2: there is no file device/gone.cc\n")

    def test_a_name_that_is_gone_is_named(self):
        run = self.check("# Tour\nIn `src/device/send.cc`,\n`Device::begin_send` begins.\n")
        self.assertEqual(run.returncode, 1)
        self.assertIn("docs/tour.md:3: Device::begin_send: begin_send is in none", run.stdout)

    def test_a_section_counts_its_own_files_only(self):
        run = self.check("# One\n`device/send.cc`\n# Two\n`Operation`\n")
        self.assertIn("docs/tour.md:4: Operation:", run.stdout)

    def test_part_of_a_name_is_not_the_name(self):
        run = self.check("# Tour\n`device/send.cc`: `start`\n")
        self.assertEqual(run.returncode, 1)

    def test_commands_are_not_names(self):
        run = self.check("# Tour\n    `nonsense`\n```\n`more`\n```\n`mpiexec -n 2 ./a`\n")
        self.assertEqual((run.returncode, run.stdout), (0, ""))


if __name__ == "__main__":
    unittest.main()
