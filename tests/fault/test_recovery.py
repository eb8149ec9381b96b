# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Ranks that are killed, and others that recover by mpi-ext.h: agreement, shrinking, receives that go on."""

import os

from fault_support import SANITIZED, FaultTest, longest_recovery_s

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
        print(f"longest recovery: {self.longest_recovery_s:.3f} s")
        self.assertGreater(self.longest_recovery_s, 0.0, "the programs tell when ranks die")

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


class LongestRecovery(FaultTest):
    """fault_support.longest_recovery_s on what programs could tell."""

    def test_counts_from_the_first_death_in_a_round(self):
        told = "round 1 1000000\nround 2 1000000\ndies 2 3000000\nend 1 7000000\n"
        self.assertEqual(longest_recovery_s(told), 4.0)

    def test_takes_each_survivor_and_round_by_itself(self):
        told = "round 1 1000000\nround 2 1500000\nround 3 1600000\ndies 3 2000000\nround 1 2500000\nround 2 5000000\nend 1 9000000\nend 2 9500000\n"
        self.assertEqual(longest_recovery_s(told), 3.0)

    def test_leaves_out_rounds_of_the_dead(self):
        told = "round 1 1000000\nround 2 1000000\ndies 2 9000000\nend 1 9500000\n"
        self.assertEqual(longest_recovery_s(told), 0.5)
