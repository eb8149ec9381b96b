# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Slurm's srun with each of its plugins, on daemons of its own."""

import slurm
import support
from support import BUILD, FAMILY, MEMBERSHIP, MPI_RANK, MPIEXEC

if REASON := slurm.lacking():
    support.skip(REASON)


class Slurm(support.HostsTest):
    PLUGINS = ("pmi2", "pmix")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemons = slurm.Daemons(cls.folder, cls.HOSTS)

    @classmethod
    def tearDownClass(cls):
        cls.daemons.end()
        super().tearDownClass()

    def setUp(self):
        def idle():
            result = self.on("node0", "sinfo", "-h", "-N", "-o", "%t", env=self.daemons.settings)
            return result.stdout.split() == ["idle"] * self.HOSTS
        try:
            support.wait_until(idle, "idle nodes of Slurm", 40)
        except AssertionError:
            print(self.daemons.logs())
            raise

    def srun(self, *words):
        return self.on("node0", "srun", *words, env=self.daemons.settings)

    def test_one_host(self):
        for plugin in self.PLUGINS:
            with self.subTest(plugin):
                self.assert_report(self.srun(f"--mpi={plugin}", "-N1", "-n2", MPI_RANK, "report"), 2)

    def test_two_hosts(self):
        for plugin in self.PLUGINS:
            with self.subTest(plugin):
                self.assert_nodes(self.srun(f"--mpi={plugin}", "-N2", "-n4", MEMBERSHIP), "0-1", "2-3")

    def test_programs_across_hosts(self):
        for plugin, program in zip(self.PLUGINS, ("p2p.modes", "coll.levels")):
            with self.subTest(plugin):
                result = self.srun(f"--mpi={plugin}", "-N2", "-n4", BUILD / "tests" / f"mpi.{program}")
                self.assertEqual(result.returncode, 0, result.stdout)

    def test_spawn_by_pmi2(self):
        # The step takes all processors of the nodes, so new ones share them.
        self.assert_tree(self.srun("--mpi=pmi2", "-N2", "-n2", "--overlap", FAMILY, "tree", 1, 2), 1, 2)

    def test_names_by_pmi2(self):
        self.assert_names(self.srun("--mpi=pmi2", "-N2", "-n2", FAMILY, "names"))

    def test_names_by_a_folder(self):
        settings = {**self.daemons.settings, "FULMAR_NAMES": self.folder}
        self.assert_names(self.on("node0", "srun", "--mpi=pmix", "-N2", "-n2", FAMILY, "names", env=settings))

    def test_spawn_by_pmix_is_refused_with_a_remedy(self):
        result = self.srun("--mpi=pmix", "-N1", "-n1", FAMILY, "tree", 1, 1)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("use srun --mpi=pmi2", result.stdout)

    def allocated(self, *words):
        return self.on("node0", "salloc", "-Q", "-N2", MPIEXEC, *words, env=self.daemons.settings)

    def test_our_mpiexec_in_an_allocation(self):
        self.assert_nodes(self.allocated("-n", 4, MEMBERSHIP), "0-1", "2-3")
        self.assert_nodes(self.allocated("--host", "node0:2,node1:2", MEMBERSHIP), "0-1", "2-3")
        # Here Slurm does not say who shares a node; the job runs all the same.
        self.assertEqual(len(self.members(self.allocated("--host", "node0:2,node1:1", MEMBERSHIP))), 3)
        self.assert_nodes(self.allocated("--host", "node0,node1", "--map-by", "node", "-n", 4, MEMBERSHIP),
                          "0,2", "1,3")
        self.assert_nodes(self.allocated("--host", "localhost:2", MEMBERSHIP), "0-1")

    def test_our_mpiexec_with_two_programs(self):
        result = self.allocated("-n", 1, "-env", "A", "it's", "sh", "-c", "echo $A", ":", "-n", 3, "echo", "a b")
        lines = sorted(line for line in result.stdout.splitlines() if not line.startswith("mpiexec: "))
        self.assertEqual((result.returncode, lines), (0, ["a b"] * 3 + ["it's"]), result.stdout)

    def test_an_abort_ends_the_step(self):
        for plugin in self.PLUGINS:
            with self.subTest(plugin):
                result = self.srun(f"--mpi={plugin}", "-N2", "-n4", MEMBERSHIP, "abort", 1, 9)
                self.assertNotIn(result.returncode, (0, 124), result.stdout)

    def test_without_a_plugin_is_an_error(self):
        result = self.srun("--mpi=none", "-N1", "-n2", MPI_RANK, "report")
        self.assertNotEqual(result.returncode, 0, result.stdout)
        self.assertIn("--mpi=pmix", result.stdout)


support.main()
