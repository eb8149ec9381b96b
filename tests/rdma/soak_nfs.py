# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Files that a server has: two guests, of which the first exports a file system by NFS 4.2 and both mount it. Programs
of tests/mpi/io with ranks on both, over TCP and shared memory. For tools/soak: takes minutes."""

import secrets
import unittest

import support
from support import BUILD, SOURCE, Step

FOLDER = "/tmp/nfs"
MIXED = FOLDER + ".mixed"  # one guest has the server's own file system there
NODE = SOURCE / "tests" / "rdma" / "node.sh"
NFS = SOURCE / "tests" / "rdma" / "nfs_node.sh"
RSH = SOURCE / "tests" / "support" / "rdmavm-rsh"
HYDRA = BUILD / "external" / "launchers" / "mpich" / "bin" / "mpiexec.hydra"  # test cluster.prepare installs it
LACKING = "" if HYDRA.exists() else "no mpiexec.hydra; see the test cluster.prepare"
# Not those that read by other means than MPI, without MPI_File_sync, what another rank has written; nor `atomic`, whose
# runs of 4 bytes cost a message each.
PROGRAMS = (("nodes", FOLDER), ("nodes", MIXED), ("arguments", FOLDER), ("random", FOLDER), ("random", MIXED))
RANDOM_PROGRAMS = 3  # of 8 that this program runs elsewhere: one takes up to 40 s in a guest that is emulated
LIMIT_S = 300


def steps():
    """Two ranks, one on each guest, and four."""
    made = []
    seed = secrets.randbelow(10**9)
    for name, folder in PROGRAMS:
        arguments = [seed, RANDOM_PROGRAMS] if name == "random" else []
        for each in (1, 2):
            command = [HYDRA, "-launcher", "ssh", "-launcher-exec", RSH, "-hosts", f"node0:{each},node1:{each}", "-n",
                       2 * each, BUILD / "tests" / f"mpi.io.{name}", *arguments]
            kind = ".mixed" if folder == MIXED else ""
            made.append(Step(f"{name}{kind}.np{2 * each}", LIMIT_S, command,
                             {"FULMAR_FABRIC": "shm,tcp", "TMPDIR": folder}))
    return made


@unittest.skipIf(LACKING, LACKING)
class TwoClients(support.GuestTest):
    """One boot."""

    @classmethod
    def setUpClass(cls):
        support.prepare()
        options = ("--nodes", "2", "--cpus", "2", "--no-device", "--nfs")
        cls.steps = steps()
        cls.results, cls.everything = support.run_steps(cls.steps, options, 1800, (NFS, FOLDER, NODE))

    def test_all(self):
        for step in self.steps:
            with self.subTest(step=step.name):
                self.passed(step.name)


if __name__ == "__main__":
    support.main()
