# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Two guests joined by a virtual wire: the device, and MPI programs that Hydra starts on both, with shared memory
within a guest and verbs between them; then some of it over a wire that loses packets, and over two wires, one of which
is cut under a job. For tools/soak: takes minutes."""

import shlex
import unittest

import support
from support import BUILD, PING, SOURCE, Step

NODE = SOURCE / "tests" / "rdma" / "node.sh"
RSH = SOURCE / "tests" / "support" / "rdmavm-rsh"
HYDRA = BUILD / "external" / "launchers" / "mpich" / "bin" / "mpiexec.hydra"  # test cluster.prepare installs it
PING_PORT = 7471
LACKING = support.lacks_verbs() or ("" if HYDRA.exists() else "no mpiexec.hydra; see the test cluster.prepare")
APART = ("p2p.held",)  # its ranks meet at a file, and guests share none
FEW = ("p2p.order", "p2p.modes", "p2p.types", "coll.movement")


def ping():
    """One side on each guest. Where the other one fails, this one hears it."""
    other = shlex.join([str(RSH), "node1", f"{PING} connect 10.77.0.1 {PING_PORT}"])
    return Step("ping", 120, ["sh", "-c", f"{PING} serve {PING_PORT} & {other} && wait $!"])


def program_steps(fabric, names=()):
    """Two ranks, and as many as the program is made for, up to 4."""
    steps = []
    for program in support.programs():
        for ranks in sorted({2, min(program.most_ranks, 4)}):
            if program.name in APART or (names and program.name not in names):
                continue
            hosts = ",".join(f"node{node}:{(ranks + 1 - node) // 2}" for node in range(2))
            command = [HYDRA, "-launcher", "ssh", "-launcher-exec", RSH, "-hosts", hosts, "-n", ranks,
                       BUILD / "tests" / f"mpi.{program.name}", *program.arguments]
            steps.append(Step(f"{program.name}.np{ranks}", 3 * program.limit_s, command, {"FULMAR_FABRIC": fabric}))
    return steps


class Hosts(support.GuestTest):
    """The steps of a class run in one boot of two guests."""

    STEPS = []
    OPTIONS = ()
    LOSS = ()

    @classmethod
    def setUpClass(cls):
        if not cls.STEPS:
            raise unittest.SkipTest("there is nothing to run here")
        support.prepare()
        cls.results, cls.everything = support.run_steps(
            cls.STEPS, ("--nodes", "2", "--cpus", "2", *cls.OPTIONS), 3600, (NODE, *cls.LOSS))

    def test_all(self):
        for step in self.STEPS:
            with self.subTest(step=step.name):
                self.passed(step.name)


PINGS = [ping()] if PING.exists() else []


class OneWire(Hosts):
    STEPS = PINGS + ([] if LACKING else program_steps("shm,verbs"))


class LossyWire(Hosts):
    """The device itself sends again what was lost: after a quarter of a second, where nothing came behind it."""
    STEPS = PINGS + ([] if LACKING else program_steps("verbs", FEW[:2]))
    LOSS = ("--loss", "1")


def cut_wire():
    settings = {"FULMAR_BUILD_DIR": BUILD, "FULMAR_SOURCE_DIR": SOURCE}
    command = ["python3", "-B", SOURCE / "tests" / "rdma" / "guest_cut_wire.py", HYDRA]
    return Step("cut_wire", 600, command, settings)


class TwoWires(Hosts):
    STEPS = PINGS + ([] if LACKING else [*program_steps("shm,verbs", FEW), cut_wire()])
    OPTIONS = ("--rails", "2")


if LACKING:
    print(f"MPI programs are left out: {LACKING}")
support.main()
