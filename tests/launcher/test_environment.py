# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
import os

from support import FAKE_RANK, MPIEXEC, LauncherTest


class Environment(LauncherTest):
    def test_rank_variables_are_set(self):
        result = self.run_job("-n", 2, *self.sh(
            "echo $FULMAR_RANK $FULMAR_SIZE $FULMAR_LOCAL_RANK $FULMAR_LOCAL_SIZE $FULMAR_APPNUM"))
        self.assertEqual(sorted(result.stdout.splitlines()), ["0 2 0 2 0", "1 2 1 2 0"])

    def test_settings_reach_the_right_programs(self):
        result = self.run_job("-genv", "G", "g", "-n", 1, "-env", "A", "1", *self.sh("echo $G$A$B"), ":",
                              "-n", 1, "-x", "B=x=y", *self.sh("echo $G$A$B"))
        self.assertEqual(sorted(result.stdout.split()), ["g1", "gx=y"])

    def test_lists_limit_what_is_passed(self):
        script = self.sh("echo $KEEP-$DROP-$SET")
        extra = {"KEEP": "k", "DROP": "d"}
        result = self.run_job("-envlist", "KEEP,PATH", "-env", "SET", "s", *script, env=extra)
        self.assertEqual(result.stdout.strip(), "k--s")
        result = self.run_job("-genvnone", "-x", "KEEP", *script, env=extra)
        self.assertEqual(result.stdout.strip(), "k--")

    def test_variables_of_an_outer_job_are_hidden(self):
        outer = {"PMI_RANK": "7", "PMI_FD": "9", "PMIX_RANK": "7", "FULMAR_RANK": "7",
                 "OMPI_COMM_WORLD_RANK": "7", "FULMAR_FABRIC": "shm"}
        result = self.run_job("env", env=outer)
        seen = dict(line.split("=", 1) for line in result.stdout.splitlines() if "=" in line)
        self.assertEqual(seen["FULMAR_RANK"], "0")
        self.assertEqual(seen["FULMAR_FABRIC"], "shm")
        for name in ("PMIX_RANK", "OMPI_COMM_WORLD_RANK"):
            self.assertNotIn(name, seen)
        self.assertEqual((seen["PMI_RANK"], seen["PMI_FD"]), ("0", seen["FULMAR_PMI_FD"]))

    def test_mpiexec_in_a_rank_runs_a_job_of_its_own(self):
        script = f"{MPIEXEC} -n 2 {FAKE_RANK} init barrier header finalize"
        result = self.run_job("-n", 2, *self.sh(script))
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout.count("rank_count 2\n"), 4)

    def test_nested_ranks_do_not_hold_the_outer_segment(self):
        script = f"{MPIEXEC} sh -c 'readlink /proc/self/fd/* | grep -c memfd:fulmar-job'"
        self.assertEqual(self.run_job(*self.sh(script)).stdout.strip(), "1")

    def test_segment_describes_the_job(self):
        result = self.run_job("-n", 2, FAKE_RANK, "only", 1, "header", ":", "-n", 1, "true")
        seen = dict(line.split() for line in result.stdout.splitlines())
        self.assertEqual(seen["rank_count"], "3")
        self.assertEqual(seen["app_count"], "2")
        self.assertEqual(seen["appnum"], "0")
        allowed = len(os.sched_getaffinity(0))
        self.assertLessEqual(int(seen["core_count"]), allowed)
        self.assertEqual(int(seen["flags"]) & 1, int(3 > int(seen["core_count"])))

    def test_ranks_can_meet_in_the_barrier(self):
        result = self.run_job("-n", 8, FAKE_RANK, "init", "barrier", "barrier", "touch", "finalize")
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_segment_is_sealed_and_inherited_once(self):
        script = ("import fcntl, os; fd = int(os.environ['FULMAR_JOB_FD']);"
                  "print(fcntl.fcntl(fd, 1034) & 7);"
                  "link = lambda f: os.path.realpath('/proc/self/fd/' + f);"
                  "print([int(f) for f in os.listdir('/proc/self/fd') if 'memfd' in link(f)] == [fd])")
        result = self.run_job("-n", 1, "python3", "-c", script)
        self.assertEqual(result.stdout.split(), ["7", "True"])
