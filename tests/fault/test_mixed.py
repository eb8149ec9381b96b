# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Ranks and spawned processes that are killed at any moment while they spawn, use files together, or use windows of the
program's memory."""

import os
import tempfile

from fault_support import REFUSED_WITHDRAWAL, SANITIZED, FaultTest

MIXED = os.environ["FAULT_MIXED"]
SEEDS = int(os.environ.get("FAULT_MIXED_SEEDS", "3"))
FIRST_SEED = int(os.environ.get("FAULT_MIXED_FIRST_SEED", "0"))
NETWORKS = os.environ.get("FAULT_MIXED_NETWORKS", "shm,tcp").split(",")
LIMIT_S = float(os.environ.get("FAULT_MIXED_LIMIT_S", "500" if SANITIZED else "100"))
# What is said of killed ranks, and by spawned processes whose parents have died before they could meet.
EXPECTED = (r"mpiexec: (spawned job \d+: )?rank \d of \d \(.*\) was killed by signal 9 \(SIGKILL\)(; .* the other ranks.*|; the other ranks go on)?|"
            r"fulmar: rank \d of \d: MPI_Init on MPI_COMM_SELF: MPI_ERR_PORT: .*|"
            r"mpiexec: spawned job \d+: rank \d of \d \(.*\) called MPI_Abort with code 43(; ending the other ranks)?")


class Mixed(FaultTest):
    def test_random_deaths(self):
        for network in NETWORKS:
            for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
                with self.subTest(network=network, seed=seed), tempfile.TemporaryDirectory() as folder:
                    result = self.outlive(5, MIXED, seed, 6, folder, network=network, limit_s=LIMIT_S)
                    for line in result.stderr.splitlines():
                        self.assertRegex(line, f"^({EXPECTED}|{REFUSED_WITHDRAWAL})$")
                    self.assertEqual(result.returncode, 137 if "SIGKILL" in result.stderr else 0, result.stderr)
        print(f"longest recovery: {self.longest_recovery_s:.3f} s")
        self.assertGreater(self.longest_recovery_s, 0.0, "the programs tell when ranks die")
