# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The examples in Python give right results on 1 to 4 ranks, with the mpi4py that the recipe has built."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["FULMAR_SOURCE_DIR"])
MPI4PY = BUILD / "external" / "mpi4py" / "site-fulmar"
RANKS = (1, 2, 3, 4)


def run_example(ranks, name, *arguments):
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("LD_", "MPI", "FULMAR_", "PYTHON"))}
    command = [BUILD / "bin" / "mpiexec", "-n", str(ranks), "--timeout", "60", sys.executable, "-B",
               SOURCE / "examples" / "python" / f"{name}.py", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, env=kept | {"PYTHONPATH": str(MPI4PY)},
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0 or done.stderr or "WRONG" in done.stdout:
        raise AssertionError(f"{name} on {ranks} ranks exited with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class PythonExamples(unittest.TestCase):
    def test_hello(self):
        for ranks in RANKS:
            lines = run_example(ranks, "hello").splitlines()
            self.assertEqual([line.split(" on ")[0] for line in lines], [f"hello from rank {i} of {ranks}" for i in range(ranks)])

    def test_ring(self):
        for ranks in RANKS:
            self.assertIn(f"20 laps over {ranks} ranks: {20 * ranks * (ranks - 1) // 2},", run_example(ranks, "ring", 20))

    def test_monte_carlo(self):
        for ranks in RANKS:
            self.assertRegex(run_example(ranks, "monte_carlo", 20), rf"pi is about 3\.[01]\d+, from {20000 * ranks} darts")

    def test_work_queue(self):
        for ranks in RANKS:
            text = run_example(ranks, "work_queue", 30500)
            self.assertIn("3293 primes below 30500", text)
            self.assertEqual(sum(int(n) for n in re.findall(r"has done (\d+) ranges", text)), 31)

    def test_sort(self):
        for ranks in RANKS:
            self.assertIn(f"{5000 * ranks} numbers on {ranks} ranks: sorted", run_example(ranks, "sort", 5))
        self.assertIn("0 numbers on 4 ranks: sorted", run_example(4, "sort", 0))

    def test_work_counter(self):
        for ranks in RANKS:
            self.assertEqual(run_example(ranks, "work_counter", 30500), "3293 primes below 30500, in 31 ranges\n")

    def test_hash_table(self):
        for ranks in RANKS:
            self.assertEqual(run_example(ranks, "hash_table", 500), f"{500 * ranks} numbers counted on {ranks} ranks\n")

    def test_stencils(self):
        for ranks in RANKS:
            for name, where in (("stencil_post", "on "), ("stencil_shared", f"in the memory of {ranks} ranks")):
                for cells in (5, 30):
                    text = run_example(ranks, name, cells, 7)
                    self.assertIn(f"7 steps of {cells} x {cells} cells {where}", text)
                    self.assertIn(": 0 cells are wrong\n", text)


if __name__ == "__main__":
    if not MPI4PY.exists():
        print("skipped: mpi4py was not built")
        sys.exit(77)
    unittest.main()
