# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Programs of another MPI library under Fulmar's mpiexec: its PMI-1 server."""

import pathlib
import subprocess
import tempfile

import support
from support import MPIEXEC, run

MPICH = support.hydra().parents[1]
SOURCE = pathlib.Path(__file__).with_name("peer_program.c")


class Mpich(support.LauncherTest):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fulmar-mpich-")
        cls.addClassCleanup(folder.cleanup)
        cls.program = pathlib.Path(folder.name) / "program"
        header = next(MPICH.rglob("mpi.h"), None)
        if header is None:
            support.skip("the mpich of PyPI has no mpi.h")
        subprocess.run(["cc", "-o", cls.program, SOURCE, f"-I{header.parent}", f"-L{MPICH}/lib",
                        f"-Wl,-rpath,{MPICH}/lib", "-l:libmpi.so.12"], check=True)

    def test_ranks_talk(self):
        for size in (1, 2, 4):
            self.assert_report(run(MPIEXEC, "-n", size, self.program, "report"), size)

    def test_the_exit_code_of_an_abort(self):
        result = run(MPIEXEC, "-n", 3, self.program, "abort", 1, 7)
        self.assertEqual(result.returncode, 7, result.stdout)
        self.assertIn("MPI_Abort with code 7", result.stdout)


support.main()
