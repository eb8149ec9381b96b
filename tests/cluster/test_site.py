# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Fulmar's mpiexec with hosts: the launcher that is installed gets the job. And what the tool fulmar says there."""

import json
import os
import re

import support
from support import BUILD, MEMBERSHIP, MPI_RANK, MPIEXEC

HYDRA = support.hydra()
PRTERUN, PRTE_SETTINGS = support.prterun()
FULMAR = BUILD / "bin" / "fulmar"
MANAGERS = {"hydra": (HYDRA.parent, {}), "prte": (PRTERUN.parent, PRTE_SETTINGS)}


class Site(support.HostsTest):
    def mpiexec(self, manager, *words, **variables):
        """Fulmar's, with one process manager in PATH."""
        folder, settings = MANAGERS[manager]
        path = f"{folder}:{os.environ['PATH']}"
        return self.on("node0", MPIEXEC, "--manager", manager, *words, env={**settings, "PATH": path, **variables})

    def test_places_of_a_list_and_of_a_file(self):
        hosts = self.folder / "hosts"
        hosts.write_text("# two hosts\nnode0 slots=2\nnode1:1\n")
        for manager in MANAGERS:
            self.assert_nodes(self.mpiexec(manager, "-f", hosts, MEMBERSHIP), "0-1", "2")
            self.assert_report(self.mpiexec(manager, "--host", "node[0-1]:2", MPI_RANK, "report"), 4)

    def test_ranks_in_turn(self):
        for manager in MANAGERS:
            result = self.mpiexec(manager, "--host", "node0,node1", "--map-by", "node", "-n", 4, MEMBERSHIP)
            self.assert_nodes(result, "0,2", "1,3")

    def test_more_ranks_than_places_begin_again(self):
        for manager in MANAGERS:
            self.assert_nodes(self.mpiexec(manager, "--host", "node0:2,node1", "-n", 5, MEMBERSHIP), "0-3", "4")

    def test_variables_and_folders_reach_every_host(self):
        (self.folder / "there").mkdir(exist_ok=True)
        # Hydra can end by SIGPIPE, with nothing said, where a host has ended before all of them have begun.
        show = ["sh", "-c", 'echo "$G,$E,$FULMAR_OUTER,$PWD"; sleep 0.5']
        words = ["--host", "node0,node1", "-genv", "G", "1 2", "-env", "E", "x,y", "-wdir", self.folder / "there"]
        for manager in MANAGERS:
            result = self.mpiexec(manager, *words, "-n", 2, *show, FULMAR_OUTER="out")
            self.assertEqual(result.returncode, 0, result.stdout)
            # A slow machine makes prterun's daemon warn of a race between itself and its remote shell.
            lines = [line for line in result.stdout.splitlines() if "plm:ssh" not in line]
            self.assertEqual(lines, [f"1 2,x,y,out,{self.folder}/there"] * 2)

    def test_two_programs(self):
        for manager in MANAGERS:
            result = self.mpiexec(manager, "--host", "node0:2,node1", "-n", 1, MEMBERSHIP, ":", "-n", 2, MEMBERSHIP)
            self.assertEqual([member.app for member in self.members(result)], [0, 1, 1])

    def test_exit_codes_and_timeouts(self):
        for manager in MANAGERS:
            result = self.mpiexec(manager, "--host", "node0,node1", "-n", 2, MEMBERSHIP, "abort", 1, 9)
            self.assertEqual(result.returncode, 9, result.stdout)
        result = self.mpiexec("hydra", "--host", "node0,node1", "--timeout", "1.5", "-n", 2, "sleep", 60)
        self.assertEqual(result.returncode, 124, result.stdout)

    def test_one_that_is_there_is_found(self):
        path = f"{HYDRA.parent}:{os.environ['PATH']}"
        result = self.on("node0", MPIEXEC, "--host", "node0,node1", "--dry-run", "true", env={"PATH": path})
        self.assertIn(f"{HYDRA} -hosts node0:1,node1:1 -n 2 ", result.stdout)
        here = self.on("node0", MPIEXEC, "--host", "node0:2", MEMBERSHIP, env={"PATH": path})
        self.assert_nodes(here, "0-1")

    def test_info_says_what_serves_whom(self):
        result = self.mpiexec("hydra", "--host", "node0:2,node1:2", FULMAR, "info", "--peers")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertRegex(result.stdout, r"(?m)^ +1 +node0 +shm +same node: shared memory$")
        for rank in (2, 3):
            self.assertRegex(result.stdout, rf"(?m)^ +{rank} +node1 +tcp +another node \(tcp by default\), "
                                            r"from 10\.77\.0\.1:\d+ to 10\.77\.0\.2:\d+$")
        self.assertIn("shm 4, tcp 8", result.stdout)

    def test_doctor_on_every_host(self):
        result = self.mpiexec("hydra", "--host", "node0,node1", FULMAR, "doctor")
        self.assertEqual(len(re.findall(r"(?m)^  ok    eth0 +10\.77\.0\.[12]/24, told to other ranks, reached itself",
                                        result.stdout)), 2, result.stdout)

    def test_doctor_sees_that_an_address_does_not_answer(self):
        self.on("node1", "ip", "link", "set", "lo", "down")
        try:
            result = self.on("node1", FULMAR, "doctor", "--json")
        finally:
            self.on("node1", "ip", "link", "set", "lo", "up")
        found = {finding["name"]: finding for finding in json.loads(result.stdout)["findings"]}
        self.assertEqual((found["eth0"]["verdict"], result.returncode), ("fail", 1), result.stdout)
        self.assertIn("ip link set lo up", found["eth0"]["remedy"])


support.main()
