# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""MPI programs across fake hosts: between them tcp or ofi, within them shared memory. Two hosts; four of them with
FULMAR_TEST_EVERY_PATH=1, as in the soak."""

import os
import pathlib
import re
import tempfile
import unittest

import support
from support import BUILD

HYDRA = support.hydra()
PRTERUN, SETTINGS = support.prterun()
PROGRAMS = ("p2p.order", "p2p.modes", "p2p.probe", "p2p.types", "p2p.threads", "coll.levels", "coll.movement",
            "coll.nonblocking", "coll.persistent", "comm.making", "comm.inter", "datatype.value_index",
            "partitioned.rounds", "rma.query_first", "session.reentry", "topo.cart", "topo.neighbour")
# libfabric is between the hosts in these; all of them in the soak.
PROGRAMS_OF_OFI = ("p2p.order", "p2p.modes", "p2p.types", "coll.levels", "comm.making", "partitioned.rounds",
                   "session.reentry")
EVERY_PATH = "FULMAR_TEST_EVERY_PATH" in os.environ
# Of the interfaces beside MPI: what they do where processes share no memory.
PROGRAMS_OF_INTERFACES = ("rwapi.messages", "rwapi.computing", "sisci.interrupts", "sisci.segments", "sisci.transfers",
                          "vipl.completions", "vipl.messages", "vipl.rdma")
# What another launcher takes part in is how ranks find each other, and how they leave.
PROGRAMS_OF_PRTERUN = ("p2p.modes", "p2p.order", "coll.levels", "session.reentry")
FLOOD = 10_000_000


class Across(support.HostsTest):
    def across(self, program, hosts, ranks, fabric=None):
        """Runs a program over the networks that a user without settings gets, or over `fabric` and no other."""
        result = self.on("node0", HYDRA, "-hosts", hosts, "-n", ranks, BUILD / "tests" / f"mpi.{program}",
                         env={"FULMAR_FABRIC": fabric} if fabric else None, timeout=120)
        self.assertEqual(result.returncode, 0, result.stdout)

    def each_across(self, programs, hosts, fabric=None):
        for program in programs:
            with self.subTest(program=program, fabric=fabric):
                self.across(program, hosts, 4, fabric)

    def each_of_interfaces(self, fabric):
        for program in PROGRAMS_OF_INTERFACES:
            with self.subTest(program=program, fabric=fabric):
                self.across(program, "node0,node1", 2, fabric)


class Messages(Across):
    def test_programs(self):
        self.each_across(PROGRAMS, "node0:2,node1:2")

    @unittest.skipUnless(support.has_network("ofi"), "this build or machine has no libfabric")
    def test_programs_over_ofi(self):
        self.each_across(PROGRAMS if EVERY_PATH else PROGRAMS_OF_OFI, "node0:2,node1:2", "shm,ofi")

    @unittest.skipUnless(support.has_network("ofi"), "this build or machine has no libfabric")
    def test_endpoints_of_ofi_move_long_messages(self):
        """As FULMAR_RDMA says; what rank 0 of p2p.remapped prints is what its own side has moved."""
        for way, moved in (("fetch", "fetched_messages"), ("put", "put_messages"), ("off", None)):
            with self.subTest(way=way):
                result = self.on("node0", HYDRA, "-hosts", "node0,node1", "-n", 2, BUILD / "tests" / "mpi.p2p.remapped",
                                 env={"FULMAR_FABRIC": "shm,ofi", "FULMAR_RDMA": way}, timeout=120)
                self.assertEqual(result.returncode, 0, result.stdout)
                lines = re.findall(r"^device_(\w+) (\d+)$", result.stdout, re.MULTILINE)
                found = {word: int(number) for word, number in lines}
                self.assertEqual(found["remote_retreats"], 0, found)
                if moved is None:
                    self.assertEqual(found["fetched_messages"] + found["put_messages"] + found["memory_opened"], 0, found)
                else:
                    self.assertGreater(found[moved], 30, found)

    @unittest.skipUnless(support.has_network("ofi"), "this build or machine has no libfabric")
    def test_who_only_listens_over_ofi_notices_a_death(self):
        """Rank 0 waits for rank 1, which is killed. The launcher does not see that before rank 0 has ended. Who ends a job
        through Hydra may lose what it has written before, so the text goes into a file."""
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            text, statuses = pathlib.Path(folder) / "text", pathlib.Path(folder) / "statuses"
            script = (f'"{support.ORPHANS}" 2>>"{text}"; echo $? >>"{statuses}"; '
                      f'until [ $(wc -l <"{statuses}") = 2 ]; do sleep 0.1; done')
            result = self.on("node0", HYDRA, "-hosts", "node0,node1", "-n", 2, "sh", "-c", script,
                             env={"FULMAR_FABRIC": "shm,ofi"})
            self.assertNotEqual(result.returncode, 124, result.stdout)
            self.assertNotIn("0", statuses.read_text().split(), result.stdout)
            self.assertRegex(text.read_text(),
                             r"lost rank 1 at \S*10\.\S+, over tcp;ofi_rxm of libfabric: nobody listens at its address")

    @unittest.skipUnless(EVERY_PATH, "ten million messages are for the soak")
    def test_flood(self):
        """All senders on the other host, the receiver's memory within the budget."""
        result = self.on("node0", HYDRA, "-hosts", "node0:1,node1:8", "-n", 9, BUILD / "tests" / "mpi.stress.flood",
                         FLOOD, timeout=3000)
        print(result.stdout)
        self.assertEqual(result.returncode, 0, result.stdout)

    def test_cancelled_sends(self):
        """Whose receivers have left MPI, for good or for a while, or have ended."""
        for program in ("environment.cancel_in_finalize", "session.cancel_before_world", "session.cancel_after_end"):
            with self.subTest(program=program):
                self.across(program, "node0,node1", 2)

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

    @unittest.skipUnless(EVERY_PATH, "the interfaces across hosts are for the soak")
    def test_interfaces(self):
        self.each_of_interfaces("tcp")

    @unittest.skipUnless(EVERY_PATH and support.has_network("ofi"), "for the soak, where there is libfabric")
    def test_interfaces_over_ofi(self):
        self.each_of_interfaces("ofi")

    def test_uneven_hosts(self):
        self.across("coll.levels", "node0:2,node1:2", 3)
        self.across("coll.levels", "node0:3,node1:2", 5)

    def test_ranks_in_turn(self):
        self.across("coll.levels", "node0,node1", 5)
        self.across("coll.reductions", "node0,node1", 4)


@unittest.skipUnless(EVERY_PATH, "four hosts are for the soak")
class FourHosts(Across):
    HOSTS = 4
    NAMES = "node0,node1,node2,node3"

    def test_programs(self):
        self.each_across(PROGRAMS, self.NAMES)
        self.across("coll.two_levels", self.NAMES, 6)

    @unittest.skipUnless(support.has_network("ofi"), "this build or machine has no libfabric")
    def test_programs_over_ofi(self):
        self.each_across(PROGRAMS, self.NAMES, "shm,ofi")


support.main()
