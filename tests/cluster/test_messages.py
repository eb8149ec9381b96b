# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""MPI programs across two fake hosts: between them tcp, within them shared memory."""

import support
from support import BUILD

HYDRA = support.hydra()
PRTERUN, SETTINGS = support.prterun()
PROGRAMS = ("p2p.order", "p2p.modes", "p2p.probe", "p2p.types", "p2p.threads", "coll.levels", "coll.movement",
            "coll.nonblocking", "coll.persistent", "comm.making", "comm.inter", "datatype.value_index",
            "partitioned.rounds", "topo.cart", "topo.neighbour")
# What another launcher takes part in is how ranks find each other, and how they leave.
PROGRAMS_OF_PRTERUN = ("p2p.modes", "p2p.order", "coll.levels")


class Messages(support.HostsTest):
    def across(self, program, hosts, ranks):
        result = self.on("node0", HYDRA, "-hosts", hosts, "-n", ranks, BUILD / "tests" / f"mpi.{program}")
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_programs(self):
        for program in PROGRAMS:
            with self.subTest(program=program):
                self.across(program, "node0:2,node1:2", 4)

    def test_two_levels(self):
        """The table of algorithms takes those in levels by itself where ranks share hosts."""
        self.across("coll.two_levels", "node0:2,node1:2", 4)
        self.across("coll.two_levels", "node0:3,node1:2", 5)
        self.across("coll.two_levels", "node0,node1", 5)

    def test_programs_of_prterun(self):
        for program in PROGRAMS_OF_PRTERUN:
            with self.subTest(program=program):
                # It would bind the ranks of both hosts to the same cores: they have one machine.
                result = self.on("node0", PRTERUN, "--bind-to", "none", "--host", "node0:2,node1:2", "-n", 4,
                                 BUILD / "tests" / f"mpi.{program}", env=SETTINGS)
                self.assertEqual(result.returncode, 0, result.stdout)

    def test_uneven_hosts(self):
        self.across("coll.levels", "node0:2,node1:2", 3)
        self.across("coll.levels", "node0:3,node1:2", 5)

    def test_ranks_in_turn(self):
        self.across("coll.levels", "node0,node1", 5)
        self.across("coll.reductions", "node0,node1", 4)


support.main()
