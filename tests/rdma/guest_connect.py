# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Runs in the first of two guests (soak_dynamic.py): a job on each, started by an mpiexec of its own, and nothing but verbs
between them. The name of the port travels in a file that both see.

usage: guest_connect.py
"""

import os
import pathlib
import subprocess
import tempfile
import unittest

import guest_faults
from guest_faults import BUILD, START_S, wait_until

RSH = guest_faults.SOURCE / "tests" / "support" / "rdmavm-rsh"
MPIEXEC, PORTS = BUILD / "bin" / "mpiexec", BUILD / "tests" / "ports"


class Connect(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="connect-", dir=os.environ["NODE_SHARED"])
        self.addCleanup(scratch.cleanup)
        self.name = pathlib.Path(scratch.name) / "port"

    def start(self, command):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("FULMAR_")}
        job = subprocess.Popen(command, env=clean | {"FULMAR_FABRIC": "verbs"}, text=True,  # pylint: disable=consider-using-with
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.wait)
        self.addCleanup(job.kill)
        return job

    def start_both(self, here, there, servers, clients, options=""):
        """The first job waits at a port; the second one is started when its name is there."""
        server = self.start([MPIEXEC, "-n", str(servers), PORTS, here, self.name])
        self.assertTrue(wait_until(self.name.exists, START_S), "no port is open")
        client = self.start([RSH, "node1", f"FULMAR_FABRIC=verbs {MPIEXEC} {options} -n {clients} {PORTS} {there} {self.name}"])
        return server, client

    def assert_ended(self, job, how, ranks, of_them):
        text, _ = job.communicate(timeout=3 * START_S)
        lines = [line for line in text.splitlines() if not line.startswith("mpiexec: ")]
        self.assertEqual(sorted(lines), [f"{how}: {rank} of {ranks}" for rank in range(of_them)], text)

    def test_jobs_meet_and_part(self):
        for servers, clients in ((1, 1), (2, 3)):
            with self.subTest(servers=servers, clients=clients):
                server, client = self.start_both("accept", "connect", servers, clients)
                self.assert_ended(client, "connect", clients, clients)
                self.assert_ended(server, "accept", servers, servers)
                self.assertEqual((server.wait(), client.wait()), (0, 0))
                self.name.unlink()

    def test_a_process_that_is_killed_is_missed_by_the_other_job(self):
        server, client = self.start_both("survive", "die", 2, 2, "--on-failure continue")
        self.assert_ended(client, "die", 2, 1)
        self.assert_ended(server, "survive", 2, 2)
        self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
