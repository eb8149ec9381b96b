# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
import os
import resource
import subprocess

from support import FAKE_RANK, LauncherTest


def limit(kind, soft, hard=None):
    return lambda: resource.setrlimit(kind, (soft, soft if hard is None else hard))


class Limits(LauncherTest):
    def area_bytes(self, result):
        self.assertEqual(result.returncode, 0, result.stderr)
        return int(dict(line.split() for line in result.stdout.splitlines())["area_bytes"])

    def test_soft_file_size_limit_is_raised_and_given_back(self):
        steps = ["-n", 1, FAKE_RANK, "header"]
        full = self.area_bytes(self.run_job(*steps))
        result = self.run_job(*steps, preexec_fn=limit(resource.RLIMIT_FSIZE, 4096, resource.RLIM_INFINITY))
        self.assertEqual(self.area_bytes(result), full)
        result = self.run_job("-n", 1, *self.sh("ulimit -f"),
                              preexec_fn=limit(resource.RLIMIT_FSIZE, 4096, resource.RLIM_INFINITY))
        self.assertEqual(result.stdout.strip(), "8")

    def test_hard_file_size_limit_gives_smaller_areas(self):
        result = self.run_job("-n", 2, FAKE_RANK, "only", 0, "header",
                              preexec_fn=limit(resource.RLIMIT_FSIZE, 16 << 20))
        self.assertLess(self.area_bytes(result), 8 << 20)

    def test_tiny_file_size_limit_is_named(self):
        result = self.run_job("-n", 2, "true", preexec_fn=limit(resource.RLIMIT_FSIZE, 64 << 10))
        self.assertEqual(result.returncode, 1)
        self.assertIn("RLIMIT_FSIZE", result.stderr)

    def test_soft_file_number_limit_is_raised_and_given_back(self):
        result = self.run_job("-n", 48, *self.sh("ulimit -n"),
                              preexec_fn=limit(resource.RLIMIT_NOFILE, 32, 4096))
        self.assertEqual((result.returncode, set(result.stdout.split())), (0, {"32"}), result.stderr)

    def test_hard_file_number_limit_is_an_error_that_leaves_nothing(self):
        result = self.run_job("-n", 48, "sleep", 1000, preexec_fn=limit(resource.RLIMIT_NOFILE, 32))
        self.assertEqual(result.returncode, 1)
        self.assertIn("ulimit -n", result.stderr)

    def test_no_number_of_spare_files_makes_the_end_hang(self):
        """Whichever descriptor is the one that is missing, those to find the ranks again among them."""
        for files in range(26, 34):
            result = self.run_job("-n", 48, "sleep", 1000, preexec_fn=limit(resource.RLIMIT_NOFILE, files))
            self.assertEqual(result.returncode, 1, f"{files} files: {result.stderr}")

    def test_many_ranks(self):
        result = self.run_job("-n", 256, FAKE_RANK, "init", "barrier", "finalize", timeout=100)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_memory_lock_limit_of_zero(self):
        result = self.run_job("-n", 2, FAKE_RANK, "init", "touch", "barrier", "finalize",
                              preexec_fn=limit(resource.RLIMIT_MEMLOCK, 0))
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_without_proc(self):
        """The fall-back when /proc is not there: process groups."""
        script = ("mount -t tmpfs none /proc && exec \"$MPIEXEC\" -n 2 sh -c "
                  "'sleep 1000 & echo $! > pid.$FULMAR_RANK'")
        if "ASAN_OPTIONS" in os.environ:
            self.skipTest("AddressSanitizer itself needs /proc")
        probe = subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/proc"], check=False,
                               stderr=subprocess.DEVNULL)
        if probe.returncode != 0:
            self.skipTest("needs the right to make a mount namespace")
        result = subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=self.folder,
                                env=self.environment(None), stdout=subprocess.DEVNULL, timeout=60, check=False)
        self.assertEqual(result.returncode, 0)
        self.assert_gone(*map(int, self.wait_for_files("pid.0", "pid.1")))

    def test_with_the_proc_of_another_pid_namespace(self):
        """There /proc shows other processes under the numbers of ours."""
        command = ["unshare", "--pid", "--fork", os.environ["MPIEXEC"], "-n", "2",
                   *self.sh("sleep 1000 & exit $FULMAR_RANK")]
        probe = subprocess.run(["unshare", "--pid", "--fork", "true"], check=False,
                               stderr=subprocess.DEVNULL)
        if probe.returncode != 0:
            self.skipTest("needs the right to make a pid namespace")
        result = subprocess.run(command, cwd=self.folder, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"rank 1 of 2", result.stderr)

    def test_as_process_one_of_a_container(self):
        command = ["unshare", "--pid", "--fork", "--mount-proc", os.environ["MPIEXEC"], "-n", "2",
                   *self.sh("sleep 1000 & exit $FULMAR_RANK")]
        probe = subprocess.run(["unshare", "--pid", "--fork", "--mount-proc", "true"], check=False,
                               stderr=subprocess.DEVNULL)
        if probe.returncode != 0:
            self.skipTest("needs the right to make a pid namespace")
        result = subprocess.run(command, cwd=self.folder, stderr=subprocess.PIPE, timeout=60, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"rank 1 of 2", result.stderr)
