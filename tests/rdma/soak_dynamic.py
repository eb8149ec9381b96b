# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Processes that come, go and die over verbs. In one guest: spawn and connect, ranks that are killed at random
(FAULT_RECOVERY_SEEDS jobs, 100 if it is not set), also while they spawn, use files and windows (a tenth of that). In two:
jobs of two mpiexecs that connect. For tools/soak: takes minutes to an hour, where guests are emulated."""

import os
import pathlib
import sys
import unittest

import support
from support import BUILD, MPIEXEC, SOURCE, Step

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from rdmaguests import guest  # noqa: E402  pylint: disable=wrong-import-position

LACKING = support.lacks_verbs()
SEEDS = int(os.environ.get("FAULT_RECOVERY_SEEDS", "100"))
SEEDS_A_STEP = 10
# For a whole job, as in tests/soak.d/recovery, where the guest runs on the processor; emulated ones get more.
EMULATED = guest.choose_accel("auto") == "tcg"
LIMITS_S = {"RECOVERY": 60 if EMULATED else 10, "MIXED": 60 if EMULATED else 20}
NODE = SOURCE / "tests" / "rdma" / "node.sh"


def fault_settings():
    programs = {f"FAULT_{name.upper()}": BUILD / "tests" / f"fault_{name}"
                for name in ("rank", "large", "survivors", "files", "recovery", "mixed")}
    return programs | {"PYTHONPATH": SOURCE / "tests" / "launcher", "MPIEXEC": MPIEXEC, "FAKE_RANK": BUILD / "tests" / "fake_rank"}


def deaths(kind, test, first, seeds):
    """A step with jobs of which ranks die: seeds from `first` on."""
    limit_s = int(os.environ.get("FAULT_RECOVERY_LIMIT_S", LIMITS_S[kind]))
    settings = fault_settings() | {f"FAULT_{kind}_FIRST_SEED": first, f"FAULT_{kind}_SEEDS": seeds,
                                   f"FAULT_{kind}_NETWORKS": "verbs", f"FAULT_{kind}_LIMIT_S": limit_s}
    command = ["sh", "-c", f"cd {SOURCE / 'tests' / 'fault'} && exec python3 -B -m unittest {test}"]
    return Step(f"{kind.lower()}.{first}", 60 + seeds * limit_s, command, settings)


def dynamic_steps():
    ranks = {"dynamic.spawn": 2, "dynamic.ports": 4, "dynamic.process_sets": 2}
    return [Step(name, 300, [MPIEXEC, "-n", count, BUILD / "tests" / f"mpi.{name}"], {"FULMAR_FABRIC": "verbs"})
            for name, count in ranks.items()]


def one_guest_steps():
    steps = dynamic_steps()
    steps += [deaths("RECOVERY", "test_recovery.Recovery.test_random_deaths", first, min(SEEDS_A_STEP, SEEDS - first))
              for first in range(0, SEEDS, SEEDS_A_STEP)]
    return steps + [deaths("MIXED", "test_mixed", 0, (SEEDS + 9) // 10)]


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
