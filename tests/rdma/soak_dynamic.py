# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Processes that come, go and die over verbs. In one guest: spawn and connect, ranks that are killed at random
(FAULT_RECOVERY_SEEDS jobs, 100 if it is not set), also while they spawn, use files and windows (FAULT_MIXED_SEEDS, a fifth of
that). In two: jobs of two mpiexecs that connect. Survivors have to recover within 10 s of the guest's clock; how long a job takes to
start is not limited by that. For tools/soak: takes minutes to an hour, where guests are emulated."""

import os
import unittest

import support
from support import BUILD, MPIEXEC, SOURCE, Step

LACKING = support.lacks_verbs()
SEEDS = int(os.environ.get("FAULT_RECOVERY_SEEDS", "100"))
MIXED_SEEDS = int(os.environ.get("FAULT_MIXED_SEEDS", str((SEEDS + 4) // 5)))
SEEDS_A_STEP = 10
JOB_LIMIT_S = 300
NODE = SOURCE / "tests" / "rdma" / "node.sh"


def fault_settings():
    programs = {f"FAULT_{name.upper()}": BUILD / "tests" / f"fault_{name}"
                for name in ("rank", "large", "survivors", "files", "recovery", "mixed")}
    return programs | {"PYTHONPATH": SOURCE / "tests" / "launcher", "MPIEXEC": MPIEXEC, "FAKE_RANK": BUILD / "tests" / "fake_rank"}


def deaths(kind, test, first, seeds):
    """A step with jobs of which ranks die: seeds from `first` on."""
    settings = fault_settings() | {f"FAULT_{kind}_FIRST_SEED": first, f"FAULT_{kind}_SEEDS": seeds,
                                   f"FAULT_{kind}_NETWORKS": "verbs", f"FAULT_{kind}_LIMIT_S": 10, "FAULT_JOB_LIMIT_S": JOB_LIMIT_S}
    command = ["sh", "-c", f"cd {SOURCE / 'tests' / 'fault'} && exec python3 -B -m unittest {test}"]
    return Step(f"{kind.lower()}.{first}", 60 + seeds * JOB_LIMIT_S, command, settings)


def dynamic_steps():
    ranks = {"dynamic.spawn": 2, "dynamic.ports": 4, "dynamic.process_sets": 2}
    return [Step(name, 300, [MPIEXEC, "-n", count, BUILD / "tests" / f"mpi.{name}"], {"FULMAR_FABRIC": "verbs"})
            for name, count in ranks.items()]


def one_guest_steps():
    steps = dynamic_steps()
    for kind, test, seeds in (("RECOVERY", "test_recovery.Recovery.test_random_deaths", SEEDS), ("MIXED", "test_mixed", MIXED_SEEDS)):
        steps += [deaths(kind, test, first, min(SEEDS_A_STEP, seeds - first)) for first in range(0, seeds, SEEDS_A_STEP)]
    return steps


def two_guests_steps():
    settings = {"FULMAR_BUILD_DIR": BUILD, "FULMAR_SOURCE_DIR": SOURCE}
    return [Step("connect", 900, ["python3", "-B", SOURCE / "tests" / "rdma" / "guest_connect.py"], settings)]


@unittest.skipIf(LACKING, f"verbs: {LACKING}")
class Guests(support.GuestTest):
    """The steps of a class run in one boot."""

    def run_all(self, steps, options=(), wrapper=()):
        support.prepare()
        type(self).results, type(self).everything = support.run_steps(steps, options, 7200, wrapper)
        for step in steps:
            with self.subTest(step=step.name):
                self.passed(step.name)

    def test_two_jobs_connect(self):
        self.run_all(two_guests_steps(), ("--nodes", "2", "--cpus", "2"), (NODE,))

    def test_processes_come_and_die(self):
        self.run_all(one_guest_steps())


support.main()
