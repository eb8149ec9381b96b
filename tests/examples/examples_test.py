# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The examples compile without a warning, give right results on 1, 2, 3 and 4 ranks, and end.

The results are compared with what is known here, beside the checks of the programs themselves.
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["FULMAR_SOURCE_DIR"])
FORTRAN = os.environ.get("FULMAR_FORTRAN_COMPILER", "")
RANKS = (1, 2, 3, 4)


def environment():
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "MPI", "FULMAR_", "OMP_"))}
    return dict(kept, PATH=f"{BUILD}/bin:{os.environ['PATH']}", OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fulmar-examples-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        shutil.copytree(SOURCE / "examples", cls.folder / "examples")
        done = subprocess.run(["make", "-j2", "all", "papers", "CFLAGS=-O1 -Wall -Wextra -Wshadow -pedantic -Werror",
                               "CXXFLAGS=-O1 -Wall -Wextra -Wshadow -pedantic -Werror"], capture_output=True, text=True,
                              cwd=cls.folder / "examples", env=environment(), check=False)
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)

    def run_example(self, ranks, name, *arguments):
        command = ["mpiexec", "-n", str(ranks), "--timeout", "60", self.folder / "examples" / name, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=self.folder,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), f"{name} on {ranks} ranks:\n{done.stdout}")
        self.assertNotIn("WRONG", done.stdout)
        return done.stdout

    def test_hello_names_all_ranks_in_order(self):
        for ranks in RANKS:
            lines = self.run_example(ranks, "hello").splitlines()[1:]
            self.assertEqual([re.match(r"hello from rank (\d) of (\d) on \S+$", line).groups() for line in lines],
                             [(str(i), str(ranks)) for i in range(ranks)])

    def test_ring_adds_every_rank_in_every_lap(self):
        for ranks in RANKS:
            self.assertIn(f"50 laps over {ranks} ranks: {50 * ranks * (ranks - 1) // 2},", self.run_example(ranks, "ring", 50))

    def test_remote_write_sums_what_the_node_before_has_written(self):
        for ranks in RANKS:
            expected = 100000 * (10 * (ranks - 1) + 55)
            self.assertIn(f"10 laps over {ranks} nodes: node 0 received a sum of {expected}", self.run_example(ranks, "remote_write"))

    def test_shared_segment_sums_what_the_node_before_has_written(self):
        for ranks in RANKS:
            lines = sorted(self.run_example(ranks, "shared_segment").splitlines())
            expected = [f"node {node}: 10 laps over {ranks} nodes, a sum of {100000 * (10 * ((node - 1) % ranks) + 55)}"
                        for node in range(ranks)]
            self.assertEqual(lines, expected)

    def test_virtual_interface_sums_what_the_process_before_has_sent(self):
        for ranks in RANKS:
            lines = sorted(self.run_example(ranks, "virtual_interface").splitlines())
            expected = [f"process {process}: 10 laps over {ranks} processes, a sum of {100000 * (10 * ((process - 1) % ranks) + 55)}"
                        for process in range(ranks)]
            self.assertEqual(lines, expected)

    def recover(self, *arguments):
        """The output, and the lines of deaths, of a job of stencil_recovery."""
        done = subprocess.run(["make", "stencil_recovery", "CFLAGS=-O1 -Wall -Wextra -Wshadow -pedantic -Werror"],
                              capture_output=True, text=True, cwd=self.folder / "examples", env=environment(), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        command = ["mpiexec", "-n", "5", "--timeout", "60", "--on-failure=continue",
                   self.folder / "examples" / "stencil_recovery", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment(), cwd=self.folder,
                              stdin=subprocess.DEVNULL, check=False)
        self.assertEqual(done.returncode, 137, f"that of the first death; {done.stderr}")
        deaths = done.stderr.splitlines()
        for line in deaths:
            self.assertRegex(line, r"^mpiexec: (spawned job \d+: )?rank \d of \d .*SIGKILL")
        return done.stdout, deaths

    def test_stencil_recovery_is_right_though_ranks_are_killed(self):
        output, deaths = self.recover("2.5")
        self.assertRegex(output, r"^\d+ steps, [2-4] of the ranks are left, the result is right\n$")
        self.assertGreaterEqual(len(deaths), 1)
        for line in deaths:
            self.assertRegex(line, r"; the other ranks go on$")

    def test_stencil_recovery_is_right_with_new_ranks_in_place_of_the_dead(self):
        output, deaths = self.recover("2.5", "respawn")
        self.assertRegex(output, r"^\d+ steps, 5 of the ranks are there, the result is right\n$")
        self.assertGreaterEqual(len(deaths), 2)

    def checkpointed(self, ranks, folder, before=(), fabric="shm"):
        """A job of stencil_checkpoint with its files in `folder`."""
        command = [*before, BUILD / "bin" / "mpiexec", "-n", str(ranks), "--timeout", "60", self.folder / "examples" / "stencil_checkpoint",
                   "1000", folder]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL,
                                env=dict(environment(), FULMAR_FABRIC=fabric))

    def sum_of(self, job):
        """From which step it went on, and its result."""
        output, errors = job.communicate()
        self.assertEqual((job.returncode, errors), (0, ""), output)
        return re.fullmatch(r"steps (\d+) to 1000 on \d ranks: the sum is (\d+)\n", output).groups()

    def kill_after_checkpoints(self, job, folder):
        """All ranks at once, when rank 0 has written two files."""
        deadline = time.monotonic() + 60
        while not ((folder / "cells.0.0").exists() and (folder / "cells.0.1").exists()):
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(job.poll(), "it has not ended by itself")
            time.sleep(0.001)
        for process in pathlib.Path(f"/proc/{job.pid}/task/{job.pid}/children").read_text().split():
            os.kill(int(process), signal.SIGKILL)
        job.communicate()
        self.assertNotEqual(job.returncode, 0)

    def test_stencil_checkpoint_goes_on_on_another_host(self):
        done = subprocess.run(["make", "stencil_checkpoint", "CFLAGS=-O1 -Wall -Wextra -Wshadow -pedantic -Werror"],
                              capture_output=True, text=True, cwd=self.folder / "examples", env=environment(), check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        other_host = ["unshare", "--user", "--map-root-user", "--net", "--uts", "sh", "-c",
                      'hostname other && ip link set lo up && exec "$@"', "sh"]
        if subprocess.run([*other_host, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no name spaces here, so there is no other host")
        for ranks, fabric in ((1, "shm"), (2, "tcp"), (3, "shm")):
            whole, parts = self.folder / f"whole{ranks}", self.folder / f"parts{ranks}"
            whole.mkdir()
            parts.mkdir()
            first, expected = self.sum_of(self.checkpointed(ranks, whole, fabric=fabric))
            self.assertEqual(first, "0")
            self.kill_after_checkpoints(self.checkpointed(ranks, parts, fabric=fabric), parts)
            first, result = self.sum_of(self.checkpointed(ranks, parts, other_host, fabric))
            self.assertEqual(result, expected)
            self.assertGreaterEqual(int(first), 50)

    def test_heat_draws_the_same_picture_on_any_number_of_ranks(self):
        pictures = []
        for ranks in RANKS:
            text = self.run_example(ranks, "heat", 60, 250, f"heat{ranks}.ppm")
            self.assertIn("after 250 steps the largest change is 0.", text)
            pictures.append((self.folder / f"heat{ranks}.ppm").read_bytes())
        self.assertEqual(len(set(pictures)), 1)
        head, pixels = pictures[0][:13], pictures[0][13:]
        self.assertEqual((head, len(pixels)), (b"P6\n60 60\n255\n", 60 * 60 * 3))
        self.assertEqual(pixels[:3], bytes((255, 255, 0)))  # 100 degrees at the upper edge
        self.assertEqual(pixels[-3:], bytes((0, 0, 255)))  # 0 at the lower one
        inside = pixels[3 * (60 * 5 + 30):][:3]
        self.assertTrue(inside not in (bytes((0, 0, 255)), bytes((255, 255, 0))), inside)  # it has warmed up

    def test_monte_carlo_is_near_pi_and_nearer_with_more_ranks(self):
        deviations = []
        for ranks in RANKS:
            text = self.run_example(ranks, "monte_carlo", 1)
            pi, deviation = map(float, re.search(r"about ([\d.]+), .* of ([\d.]+)", text).groups())
            self.assertLess(abs(pi - 3.14159265), 5 * deviation)
            deviations.append(deviation)
        self.assertEqual(deviations, sorted(deviations, reverse=True))

    def test_halo3d_fills_the_halos_and_keeps_the_sum(self):
        for ranks in (*RANKS, 8):
            text = self.run_example(ranks, "halo3d", 6, 5)
            dims = [int(n) for n in re.match(r"(\d) x (\d) x (\d) ranks", text).groups()]
            self.assertEqual(dims[0] * dims[1] * dims[2], ranks)
            self.assertIn(": 0 wrong cells in the halos", text)
            cells = 216 * ranks  # their labels are 0 to cells - 1
            total = float(re.search(r"sum is (\S+), as before", text)[1])
            self.assertAlmostEqual(total / (cells * (cells - 1) / 2), 1, places=6)

    def test_sort_sorts(self):
        for ranks in RANKS:
            self.assertIn(f"{20000 * ranks} numbers on {ranks} ranks: sorted", self.run_example(ranks, "sort", 20))
        self.assertIn("0 numbers on 4 ranks: sorted", self.run_example(4, "sort", 0))

    def test_matmul_multiplies(self):
        for ranks, grid in ((1, "1 x 1"), (2, "2 x 1"), (3, "3 x 1"), (4, "2 x 2")):
            self.assertIn(f"on a grid of {grid} ranks: 0 wrong elements", self.run_example(ranks, "matmul", 100))

    def test_work_queue_counts_the_primes_and_does_each_range_once(self):
        for ranks in RANKS:
            text = self.run_example(ranks, "work_queue", 30500)
            self.assertIn("3293 primes below 30500", text)
            self.assertEqual(sum(int(n) for n in re.findall(r"has done (\d+) ranges", text)), 31)

    def test_work_counter_gives_out_each_range_once(self):
        for ranks in RANKS:
            self.assertIn("3293 primes below 30500, in 31 ranges", self.run_example(ranks, "work_counter", 30500))

    def test_hash_table_counts_every_number(self):
        for ranks in RANKS:
            self.assertIn(f"{2000 * ranks} numbers counted on {ranks} ranks", self.run_example(ranks, "hash_table", 2000))
        self.assertIn("0 numbers counted on 2 ranks", self.run_example(2, "hash_table", 0))

    def test_stencils_compute_what_one_rank_computes_alone(self):
        for ranks in (*RANKS, 6):
            text = self.run_example(ranks, "stencil_post", 41, 60)
            rows, columns = map(int, re.search(r"on (\d+) x (\d+) ranks: 0 cells are wrong", text).groups())
            self.assertEqual(rows * columns, ranks)
            self.assertIn(f"in the memory of {ranks} ranks: 0 cells are wrong",
                          self.run_example(ranks, "stencil_shared", 41, 60))

    def test_hybrid_uses_threads_in_every_rank(self):
        for ranks in (1, 2):
            text = self.run_example(ranks, "hybrid", 1)
            self.assertRegex(text, r"pi is 3\.1415926535\d\d, ")
            self.assertIn(f"on {ranks} ranks with {2 * ranks} threads in all", text)

    @unittest.skipUnless(FORTRAN, "there is no Fortran compiler")
    def test_fortran_gives_what_c_gives(self):
        folder = self.folder / "examples" / "fortran"
        done = subprocess.run(["make", "FCFLAGS=-O1 -Wall -Wextra -Werror"], capture_output=True, text=True, cwd=folder,
                              env=environment() | {"FULMAR_FC": FORTRAN, "FULMAR_MODULE_CACHE": str(self.folder / "modules")},
                              check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.run_example(3, "heat", 60, 250, "heat_c.ppm")
        for ranks in RANKS:
            lines = self.run_example(ranks, "fortran/hello").splitlines()
            self.assertEqual([line.split(" on ")[0] for line in lines], [f"hello from rank {i} of {ranks}" for i in range(ranks)])
            self.assertIn(f"50 laps over {ranks} ranks: {50 * ranks * (ranks - 1) // 2},", self.run_example(ranks, "fortran/ring", 50))
            self.assertRegex(self.run_example(ranks, "fortran/monte_carlo", 1), r"pi is about 3\.1[34]\d+, from " + f"{ranks}000000")
            self.run_example(ranks, "fortran/heat", 60, 250, "heat_f.ppm")
            self.assertEqual((self.folder / "heat_f.ppm").read_bytes(), (self.folder / "heat_c.ppm").read_bytes())


if __name__ == "__main__":
    unittest.main()
