# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""MPICH's launchers: PMI-1."""

import support
from support import FAMILY, MEMBERSHIP, MPI_RANK, MPIEXEC, environment, run

HYDRA = support.hydra()
GFORKER = HYDRA.with_name("mpiexec.gforker")


class OneHost(support.LauncherTest):
    def test_ranks_talk(self):
        for size in (1, 2, 5):
            self.assert_report(run(HYDRA, "-n", size, MPI_RANK, "report"), size)

    def test_they_share_a_node(self):
        self.assert_nodes(run(HYDRA, "-n", 3, MEMBERSHIP), "0-2")

    def test_over_a_port(self):
        self.assert_report(run(HYDRA, "-pmi-port", "-n", 3, MPI_RANK, "report"), 3)

    def test_gforker_tells_no_nodes(self):
        self.assert_nodes(run(GFORKER, "-n", 3, MEMBERSHIP), "0-2")

    def test_two_programs(self):
        result = run(HYDRA, "-n", 1, MEMBERSHIP, ":", "-n", 2, MEMBERSHIP)
        self.assertEqual([member.app for member in self.members(result)], [0, 1, 1])

    def test_the_exit_code_of_an_abort(self):
        for code, expected in ((7, 7), (0, 1), (300, 44)):
            result = run(HYDRA, "-n", 3, MEMBERSHIP, "abort", 1, code)
            self.assertEqual(result.returncode, expected, result.stdout)

    def test_ranks_spawn(self):
        self.assert_tree(run(HYDRA, "-n", 2, FAMILY, "tree", 2, 2), 2, 2)
        result = run(HYDRA, "-n", 1, FAMILY, "several", 2)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn("rank 0: 4 processes", result.stdout)

    def test_children_that_never_connect_are_an_error(self):
        env = environment(FULMAR_SPAWN_TIMEOUT=1)
        for what, text in (("missing", "there is no such program"), ("silent", "have not connected within 1 s")):
            result = run(HYDRA, "-n", 2, FAMILY, what, env=env)
            self.assertIn("rank 1: class MPI_ERR_SPAWN", result.stdout)
            self.assertIn(text, result.stdout)

    def test_names(self):
        self.assert_names(run(HYDRA, "-n", 2, FAMILY, "names"))

    def test_inside_a_rank_of_ours(self):
        self.assert_report(run(MPIEXEC, "-n", 1, HYDRA, "-n", 3, MPI_RANK, "report"), 3)

    def test_ours_inside_one_of_its_ranks(self):
        self.assert_report(run(HYDRA, "-n", 1, MPIEXEC, "-n", 3, MPI_RANK, "report"), 3)


class TwoHosts(support.HostsTest):
    def test_ranks_in_blocks(self):
        self.assert_nodes(self.on("node0", HYDRA, "-hosts", "node0:2,node1:2", "-n", 4, MEMBERSHIP), "0-1", "2-3")

    def test_ranks_in_turn(self):
        self.assert_nodes(self.on("node0", HYDRA, "-hosts", "node0,node1", "-n", 5, MEMBERSHIP), "0,2,4", "1,3")

    def test_ranks_spawn(self):
        self.assert_tree(self.on("node0", HYDRA, "-hosts", "node0,node1", "-n", 2, FAMILY, "tree", 1, 3), 1, 3)

    def test_an_abort_reaches_the_other_host(self):
        result = self.on("node0", HYDRA, "-hosts", "node0,node1", "-n", 4, MEMBERSHIP, "abort", 1, 9)
        self.assertEqual(result.returncode, 9, result.stdout)


support.main()
