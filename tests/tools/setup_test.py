# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""tools/setup names what is missing; the package manager is imitated."""

import os
import unittest

import tree

# `dpkg-query` knows the packages of $INSTALLED, `id` says who runs, sudo always refuses.
DPKG = """#!/bin/sh
for name in $INSTALLED; do echo "installed $name"; done
"""
CHECK = ["clang-format-19", "clang-tidy-19", "git", "clang-22", "libclang-rt-22-dev"]


class Setup(tree.TreeTest):
    def run_setup(self, *groups, installed=(), user=1000):
        for name, text in {"dpkg-query": DPKG, "id": f"#!/bin/sh\necho {user}\n",
                           "sudo": "#!/bin/sh\nexit 1\n",
                           "apt-get": '#!/bin/sh\necho "$@" >>"$LOG"\n',
                           "apt-cache": "#!/bin/sh\nprintf 'clang-%s - x\\n' 9 16 22\n"}.items():
            self.write(f"bin/{name}", text).chmod(0o755)
        env = dict(os.environ, PATH=f"{self.root}/bin:{os.environ['PATH']}",
                   INSTALLED=" ".join(installed), LOG=f"{self.root}/log")
        return self.run_tool("setup", *groups, env=env)

    def test_nothing_to_do_is_silent(self):
        run = self.run_setup("check", installed=CHECK)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, "", ""))

    def test_plain_user_gets_the_line_to_run(self):
        run = self.run_setup("check", installed=set(CHECK) - {"clang-format-19", "git"})
        self.assertEqual(run.returncode, 1)
        line = run.stderr.splitlines()[-1]
        self.assertIn("apt-get install", line)
        self.assertTrue(line.endswith(" clang-format-19 git"), line)

    def test_root_installs(self):
        run = self.run_setup("check", installed=set(CHECK) - {"clang-format-19"}, user=0)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("install -y -qq --no-install-recommends clang-format-19", (self.root / "log").read_text())

    def test_newest_clang_is_the_highest_number(self):
        run = self.run_setup("soak")
        self.assertIn(" clang-22 ", run.stderr)
        self.assertNotIn("clang-9", run.stderr)
        self.assertNotIn("clang-newest", run.stderr)

    def test_unknown_group(self):
        run = self.run_setup("nonsense")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("no group 'nonsense'", run.stderr)


if __name__ == "__main__":
    unittest.main()
