# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Jobs of spawner.cc, which asks for processes and names without MPI."""
import os

from support import LauncherTest

SPAWNER = os.environ["SPAWNER"]


class SpawnTest(LauncherTest):
    def spawn(self, *words, options=(), **more):
        """One rank that spawns; the lines of its output."""
        result = self.run_job(*options, "-n", 1, SPAWNER, *words, **more)
        return result, result.stdout.splitlines()

    def refused(self, *words):
        """What the spawner says about a spawn that fails, and nothing has been started."""
        result, lines = self.spawn(*words)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(len(lines), 1, lines)
        self.assertIn("spawn: MPI_ERR_SPAWN: ", lines[0])
        return lines[0]
