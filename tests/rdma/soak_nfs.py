# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Files that a server has: two guests, of which the first exports a file system by NFS 4.2 and both mount it. Programs
of tests/mpi/io with ranks on both, over TCP and shared memory. For tools/soak: takes minutes."""

import unittest

import support
from support import BUILD, SOURCE, Step

FOLDER = "/tmp/nfs"
ENVIRONMENT = {"FULMAR_FABRIC": "shm,tcp", "TMPDIR": FOLDER}
NODE = SOURCE / "tests" / "rdma" / "node.sh"
NFS = SOURCE / "tests" / "rdma" / "nfs_node.sh"
RSH = SOURCE / "tests" / "support" / "rdmavm-rsh"
HYDRA = BUILD / "external" / "launchers" / "mpich" / "bin" / "mpiexec.hydra"  # test cluster.prepare installs it
LACKING = "" if HYDRA.exists() else "no mpiexec.hydra; see the test cluster.prepare"
# Not those that read by other means than MPI, without MPI_File_sync, what another rank has written; nor `atomic`, whose
# runs of 4 bytes cost a message each.
PROGRAMS = ("nodes", "arguments", "random")
LIMIT_S = 300


def steps():
    """Two ranks, one on each guest, and four."""
    made = []
    for name in PROGRAMS:
        for each in (1, 2):
            command = [HYDRA, "-launcher", "ssh", "-launcher-exec", RSH, "-hosts", f"node0:{each},node1:{each}", "-n",
                       2 * each, BUILD / "tests" / f"mpi.io.{name}"]
            made.append(Step(f"{name}.np{2 * each}", LIMIT_S, command, ENVIRONMENT))
    return made


@unittest.skipIf(LACKING, LACKING)
class TwoClients(support.GuestTest):
    """One boot."""

    @classmethod
    def setUpClass(cls):
        support.prepare()
        options = ("--nodes", "2", "--cpus", "2", "--no-device", "--nfs")
        cls.results, cls.everything = support.run_steps(steps(), options, 1800, (NFS, FOLDER, NODE))

    def test_all(self):
        for step in steps():
            with self.subTest(step=step.name):
                self.passed(step.name)


if __name__ == "__main__":
    support.main()
