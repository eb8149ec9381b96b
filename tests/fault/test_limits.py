# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Little memory, few files, small files, many ranks: the library within limits."""

import os
import pathlib
import resource
import shlex
import subprocess
import unittest

from fault_support import FAULT_RANK, SANITIZED, SKIPPED, FaultTest, limit, may
from support import MPIEXEC

MB = 1 << 20


class Limits(FaultTest):
    def test_small_dev_shm(self):
        mount = "mount -t tmpfs -o size=1m none /dev/shm"
        if not may("unshare", "-m", *mount.split()):
            self.skipTest("needs the right to make a mount namespace")
        script = f"{mount} && exec {shlex.quote(MPIEXEC)} -n 4 {shlex.quote(FAULT_RANK)} traffic"
        result = subprocess.run(["unshare", "-m", "sh", "-c", script], cwd=self.folder, timeout=100,
                                env=self.environment(None), stderr=subprocess.PIPE, check=False)
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_file_size_limits(self):
        # The thread sanitizer writes a file before main and is killed for it without room for one.
        for size in (MB,) if SANITIZED else (0, MB):
            with self.subTest(size=size):
                result = self.run_fault(2, "traffic", preexec_fn=limit(resource.RLIMIT_FSIZE, size))
                self.assert_clear_error(result, "RLIMIT_FSIZE")
        for size in (5 * MB, 8 * MB, 64 * MB):
            with self.subTest(size=size):
                self.run_traffic(2, preexec_fn=limit(resource.RLIMIT_FSIZE, size))

    def test_small_areas_for_many_ranks(self):
        """16 ranks with an area of 1 MB each: small rings, and fewer than peers."""
        self.run_traffic(16, "traffic", 100000, preexec_fn=limit(resource.RLIMIT_FSIZE, 18 * MB))

    def test_few_files_for_the_ranks(self):
        self.run_traffic(2, prefix=("prlimit", "--nofile=16:16"))

    def test_few_files_for_mpiexec(self):
        """Wherever it runs out of them, what was started ends with it."""
        for files in range(8, 24):
            with self.subTest(files=files):
                result = self.run_fault(2, "traffic", 1000, timeout=20,
                                        preexec_fn=limit(resource.RLIMIT_NOFILE, files))
                if result.returncode != 0:
                    self.assert_clear_error(result, "ulimit -n")

    def test_no_locked_memory(self):
        self.run_traffic(2, preexec_fn=limit(resource.RLIMIT_MEMLOCK, 0))

    @unittest.skipIf(SANITIZED, "the sanitizers need much address space")
    def test_limited_address_space(self):
        """Whatever the limit of a batch system is: the job starts, and the program gets the rest."""
        for kib in (200000, 500000, 1000000, 2000000, 4000000, 6500000, None):
            for ranks in (2, 8):
                room = (kib or 16000000) * 1024 * 3 // 4 - 64 * MB
                options = {} if kib is None else {"preexec_fn": limit(resource.RLIMIT_AS, kib * 1024)}
                with self.subTest(kib=kib, ranks=ranks):
                    result = self.run_fault(ranks, "room", room, **options)
                    self.assertEqual((result.returncode, result.stderr), (0, ""))

    @unittest.skipIf(SANITIZED, "the sanitizers need much address space")
    def test_address_space_of_a_short_program(self):
        """Without a limit, too: what counts there is the size of core files, and how it looks in top."""
        result = self.run_traffic(2, "room", MB)
        self.assertLess(int(result.stdout.split()[1]), 200 * MB)

    @unittest.skipIf(SANITIZED, "the sanitizers need much address space")
    def test_address_space_limited_for_the_ranks_alone(self):
        """mpiexec cannot know of it: the error says what to do."""
        result = self.run_fault(8, "room", MB, prefix=("prlimit", f"--as={200 * MB}"))
        self.assert_clear_error(result, "ulimit -v", "before mpiexec is started")

    @unittest.skipIf(SANITIZED, "the sanitizers need much address space")
    def test_little_address_space(self):
        """From too little for the job's segment to enough: an error or a result."""
        outcomes = set()
        for megabytes in (*range(16, 400, 32), 512, 768, 1024, 2048, 8192):
            result = self.run_fault(2, "traffic", 100000, prefix=("prlimit", f"--as={megabytes * MB}"))
            if result.returncode != 0:
                with self.subTest(megabytes=megabytes):
                    self.assert_clear_error(result)
                    self.assertNotEqual(result.stderr, "")
            outcomes.add(result.returncode == 0)
            if result.returncode == 0:
                break
        self.assertEqual(outcomes, {False, True})

    @unittest.skipIf(SANITIZED, "the sanitizers allocate in their own way")
    def test_no_memory_for_unexpected_messages(self):
        """What cannot be kept is not lost in silence: its receiver would wait for ever."""
        result = self.run_fault(2, "flood", env={"FULMAR_MEMORY": "1024G"}, timeout=60)
        if result.returncode == SKIPPED:
            self.skipTest("not possible here")
        self.assert_clear_error(result, "no memory left", "rank 1", "FULMAR_MEMORY")

    @unittest.skipIf(SANITIZED, "the sanitizers allocate in their own way")
    def test_no_memory_in_a_call(self):
        """The ranks that wait for the one without memory do not wait for ever."""
        for what, words in (("collective", ("MPI_ERR_NO_MEM", "which other ranks wait for")),
                            ("datatype", ("no memory for",))):
            with self.subTest(what=what):
                # By messages, which need memory for operands on a node, too.
                result = self.run_fault(3, "poor", what, env={"FULMAR_COLL": "scan:doubling"}, timeout=60)
                if result.returncode == SKIPPED:
                    self.skipTest("not possible here")
                self.assert_clear_error(result, "rank 1", *words)

    def test_memory_of_a_control_group(self):
        self.run_traffic(2, prefix=self.within(self.make_memory_group(400 * MB)))

    def test_too_little_memory_in_a_control_group(self):
        """The kernel kills a rank then: the job ends and says which."""
        group = self.make_memory_group(24 * MB)
        result = self.run_fault(2, "denied_midway", "none", "", "", prefix=self.within(group))
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"rank \d of 2")

    @staticmethod
    def within(group):
        return ("sh", "-c", f'echo $$ > {group}/cgroup.procs && exec "$@"', "sh")

    def make_memory_group(self, size):
        for root, name in (("/sys/fs/cgroup/memory", "memory.limit_in_bytes"),
                           ("/sys/fs/cgroup", "memory.max")):
            group = pathlib.Path(root) / f"fulmar-{os.getpid()}-{size}"
            try:
                group.mkdir()
            except OSError:
                continue
            self.addCleanup(group.rmdir)
            try:
                (group / name).write_text(str(size))
                return group
            except OSError:
                continue
        return self.skipTest("no control group with a memory limit can be made here")

    def test_many_ranks_on_few_cores(self):
        self.run_traffic(64, "traffic", 40000, timeout=200)
