# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Ranks that are killed under --on-failure=continue: the others learn of it in every call, and go on."""

import os
import re

from fault_support import SANITIZED, FaultTest

SURVIVORS = os.environ["FAULT_SURVIVORS"]
NETWORKS = ("shm", "tcp", "ofi")
# One rank dies in each call.
MESSAGES = (
    ("send", "ssend", "recv", "recv_any", "probe", "probe_any"),
    ("iprobe", "mprobe", "sendrecv", "irecv", "issend", "waitall"),
    ("send_long", "test", "persistent", "dup", "allreduce_init"),
)
COLLECTIVES = (
    ("barrier", "bcast", "allreduce", "reduce", "allgather", "alltoall"),
    ("gather", "scatter", "scan", "reduce_scatter", "ibarrier", "ibcast"),
    ("bcast_long", "allreduce_long", "reduce_long", "allgather_long", "alltoall_long"),
    ("gather_long", "scatter_long", "scan_long", "reduce_scatter_long", "ibcast_long"),
    ("iallreduce", "iallreduce_long", "ialltoall_long"),
)


class Survivors(FaultTest):
    def run_survivors(self, ranks, *arguments, options=("--on-failure=continue",), env=None):
        return self.run_job("-n", ranks, *options, SURVIVORS, *arguments, env=env,
                            timeout=500 if SANITIZED else 120)

    def expect(self, groups):
        for network in NETWORKS:
            for calls in groups:
                with self.subTest(network=network, calls=calls):
                    self.expect_all_learn(network, calls)

    def expect_all_learn(self, network, calls):
        size = len(calls) + 2
        result = self.run_survivors(size, *calls, env={"FULMAR_FABRIC": network})
        if network == "ofi" and "libfabric" in result.stderr:
            self.skipTest("no libfabric here")
        lines = result.stderr.splitlines()
        deaths = [line for line in lines if line.startswith("mpiexec: ")]
        self.assertEqual(lines, deaths, result.stderr)
        for index, line in enumerate(deaths):
            self.assertRegex(line, rf"^mpiexec: rank {size - 1 - index} of {size} .*SIGKILL.*; the other ranks go on$")
        self.assertEqual(len(deaths), len(calls))
        self.assertEqual(result.returncode, 137, "that of the first failure")

    def test_messages(self):
        self.expect(MESSAGES)

    def test_collective_calls(self):
        self.expect(COLLECTIVES)

    def test_windows(self):
        for network in ("shm", "tcp"):
            with self.subTest(network=network):
                result = self.run_survivors(4, "windows", env={"FULMAR_FABRIC": network})
                lines = result.stderr.splitlines()
                self.assertEqual(len(lines), 1, result.stderr)
                self.assertRegex(lines[0], r"^mpiexec: rank 3 of 4 .*SIGKILL.*; the other ranks go on$")
                self.assertEqual(result.returncode, 137, "that of the death")

    def test_accumulates(self):
        """Who dies within one leaves the mutex of the target locked, which others take over."""
        result = self.run_survivors(4, "accumulate")
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 1, result.stderr)
        self.assertRegex(lines[0], r"^mpiexec: rank 3 of 4 .*SIGKILL.*; the other ranks go on$")
        self.assertEqual(result.returncode, 137, "that of the death")


class Policies(Survivors):
    def test_fatal_handler_ends_the_job_with_a_text(self):
        for network in ("shm", "tcp"):
            with self.subTest(network=network):
                result = self.run_survivors(4, "fatal", env={"FULMAR_FABRIC": network})
                self.assertEqual(result.returncode, 137)
                self.assertRegex(result.stderr, r"fulmar: rank [023] of 4: MPI_Barrier on MPI_COMM_WORLD: "
                                                r"MPIX_ERR_PROC_FAILED: rank 1 has failed: lost rank 1 ")

    def test_who_needs_nothing_of_the_dead_goes_on(self):
        for network in ("shm", "tcp"):
            with self.subTest(network=network):
                result = self.run_survivors(4, "ignore", env={"FULMAR_FABRIC": network})
                self.assertEqual(result.returncode, 137)
                self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
                self.assertRegex(result.stderr, r"^mpiexec: rank 1 of 4 .*; the other ranks go on$")

    def test_job_ends_by_default(self):
        for options in ((), ("--on-failure=abort",)):
            with self.subTest(options=options):
                result = self.run_survivors(4, "ignore", options=options)
                self.assertEqual(result.returncode, 137)
                self.assertIn("; ending the other ranks", result.stderr)

    def test_unknown_policy_is_refused(self):
        result = self.run_survivors(2, "ignore", options=("--on-failure=hope",))
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("--on-failure is \"hope\", expected abort or continue", result.stderr)

    def test_abort_ends_the_job_all_the_same(self):
        script = 'if [ $FULMAR_RANK = 0 ]; then exit 3; fi; exec "$0" "$@"'
        result = self.run_job("-n", 3, "--on-failure=continue", "sh", "-c", script, SURVIVORS, "fatal",
                              timeout=60)
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertRegex(result.stderr, r"mpiexec: rank 0 of 3 .*exited with code 3; the other ranks go on")
        self.assertRegex(result.stderr, r"rank 0 has failed: (lost rank 0|rank 0 of the job cannot take part)")


class NeverCame(FaultTest):
    """A rank that ends without MPI_Init: who waits for it learns so, under any policy."""

    def test_exit_without_init(self):
        script = 'if [ $FULMAR_RANK = 1 ]; then exit 0; fi; exec "$0" "$@"'
        for network in ("shm", "tcp"):
            with self.subTest(network=network):
                result = self.run_job("-n", 2, "sh", "-c", script, SURVIVORS, "fatal",
                                      env={"FULMAR_FABRIC": network}, timeout=60)
                self.assertNotEqual(result.returncode, 0)
                self.assertRegex(re.sub(r"\s+", " ", result.stderr), "rank 1 .*(cannot take part|lost rank 1|cannot be reached)")
