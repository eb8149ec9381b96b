# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A rank that is killed in a collective write under --on-failure=continue: the others get an error, and none waits."""

import os
import pathlib
import tempfile

from fault_support import FaultTest

FILES = os.environ["FAULT_FILES"]


class Files(FaultTest):
    def test_others_learn_of_a_rank_that_dies_in_a_collective_write(self):
        for network in ("shm", "tcp"):
            for dead in (0, 1, 2):
                with self.subTest(network=network, dead=dead), tempfile.TemporaryDirectory() as folder:
                    result = self.run_job("-n", 3, "--on-failure=continue", FILES, pathlib.Path(folder) / "file", dead,
                                          env={"FULMAR_FABRIC": network}, timeout=60)
                    lines = sorted(result.stdout.splitlines())
                    self.assertEqual([line.split(":")[0] for line in lines],
                                     [f"rank {rank}" for rank in range(3) if rank != dead for _ in range(2)], result.stderr)
                    for call, line in zip(("MPI_File_close", "MPI_File_write_at_all") * 2, lines):
                        self.assertIn(call, line)
                        self.assertIn("MPIX_ERR_PROC_FAILED", line)
                        self.assertIn(f"rank {dead} has failed", line)
                    self.assertEqual(result.returncode, 137)
