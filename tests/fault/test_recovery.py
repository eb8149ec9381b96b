# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Ranks that are killed, and others that recover by mpi-ext.h: agreement, shrinking, receives that go on."""

import os

from fault_support import SANITIZED, FaultTest

RECOVERY = os.environ["FAULT_RECOVERY"]
SEEDS = int(os.environ.get("FAULT_RECOVERY_SEEDS", "4"))
FIRST_SEED = int(os.environ.get("FAULT_RECOVERY_FIRST_SEED", "0"))
NETWORKS = os.environ.get("FAULT_RECOVERY_NETWORKS", "shm,tcp").split(",")
# How long a job with deaths may take. The gate runs beside other tests; tests/soak.d/recovery asks for 10 s.
LIMIT_S = float(os.environ.get("FAULT_RECOVERY_LIMIT_S", "500" if SANITIZED else "100"))


class Recovery(FaultTest):
    def recover(self, ranks, *arguments, network, deaths):
        result = self.outlive(ranks, RECOVERY, *arguments, network=network, limit_s=LIMIT_S)
        lines = result.stderr.splitlines()
        dead = [line for line in lines if line.startswith("mpiexec: ") and "SIGKILL" in line]
        self.assertEqual(lines, dead, result.stderr)
        if deaths is not None:
            self.assertEqual(len(dead), deaths, result.stderr)
        self.assertEqual(result.returncode, 137 if dead else 0)

    def test_random_deaths(self):
        for network in NETWORKS:
            for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
                with self.subTest(network=network, seed=seed):
                    self.recover(6, "rounds", seed, 3, network=network, deaths=None)

    def test_receives_from_any_source_go_on(self):
        for network in ("shm", "tcp"):
            with self.subTest(network=network):
                self.recover(3, "pending", network=network, deaths=1)

    def test_those_that_are_left_make_a_communicator_by_the_same_call(self):
        for network in ("shm", "tcp"):
            for seed in range(SEEDS):
                with self.subTest(network=network, seed=seed):
                    self.recover(5, "again", seed, network=network, deaths=4)

    def test_two_groups(self):
        for network in ("shm", "tcp"):
            with self.subTest(network=network):
                self.recover(6, "groups", network=network, deaths=2)

    def test_who_has_left_tells_its_job_of_a_death_that_only_it_can_see(self):
        result = self.outlive(4, RECOVERY, "partner", network="tcp", limit_s=LIMIT_S)
        self.assertRegex(result.stderr, r"^mpiexec: spawned job 1: rank 1 of 4 \(.*\) was killed by signal 9 \(SIGKILL\).*\n$")
        self.assertEqual(result.returncode, 137, result.stderr)
