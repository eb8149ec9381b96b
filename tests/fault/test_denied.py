# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""System calls that a sandbox denies."""

import os
import shutil

from fault_support import FAULT_RANK, FaultTest, may


class SingleCopy(FaultTest):
    def test_denied_from_the_start(self):
        for error in ("EPERM", "ENOSYS"):
            for who in ("all", "0", "1"):
                with self.subTest(error=error, who=who):
                    self.run_traffic(2, "denied", who, "process_vm", error)

    def test_denied_in_one_direction(self):
        for call in ("process_vm_readv", "process_vm_writev"):
            for way in ("auto", "share"):
                with self.subTest(call=call, way=way):
                    self.run_traffic(2, "denied", "all", call, "EPERM", env={"FULMAR_LONG_COPY": way})

    def test_denied_in_the_middle_of_a_message(self):
        ways = ({"FULMAR_LONG_COPY": "share"}, {"FULMAR_SHARE_BYTES": "1G"}, {})
        for who in ("all", "0", "1"):
            for call in ("process_vm", "process_vm_writev"):
                for way in ways:
                    with self.subTest(who=who, call=call, way=way):
                        self.run_traffic(2, "denied_midway", who, call, "EPERM", env=way)

    def test_disappears_in_the_middle_of_a_message(self):
        self.run_traffic(3, "denied_midway", "all", "process_vm", "ENOSYS",
                         env={"FULMAR_LONG_COPY": "share"})

    def test_denied_to_ranks_that_read_each_others_blocks(self):
        for when in ("denied", "denied_later"):
            for who in ("all", "1"):
                with self.subTest(when=when, who=who):
                    self.run_traffic(3, when, who, "process_vm_readv", "EPERM",
                                     env={"FULMAR_COLL": "alltoall:read,scatter:read"})

    def test_switched_off(self):
        self.run_traffic(2, env={"FULMAR_SINGLE_COPY": "0"})


class Membarrier(FaultTest):
    def test_denied_from_the_start(self):
        for who in ("all", "0", "1"):
            for error in ("EPERM", "ENOSYS"):
                with self.subTest(who=who, error=error):
                    self.run_traffic(3, "denied", who, "membarrier", error)

    def test_denied_later(self):
        for who in ("all", "1"):
            with self.subTest(who=who):
                self.run_traffic(4, "denied_midway", who, "membarrier", "EPERM")


class Tracer(FaultTest):
    """Yama's restricted mode asks for prctl(PR_SET_PTRACER); where that is denied, copies may be, too."""

    def test_prctl_denied(self):
        self.run_traffic(2, "denied", "all", "prctl", "EPERM")


class ProgressThread(FaultTest):
    def test_no_thread_can_be_started(self):
        for mode in ("on", "only"):
            with self.subTest(mode=mode):
                # The leak checker of a sanitizer starts a thread, too.
                result = self.run_traffic(2, "denied", "1", "thread", "EAGAIN",
                                          env={"FULMAR_PROGRESS_THREAD": mode, "LSAN_OPTIONS": "detect_leaks=0"})
                self.assertEqual(result.stderr.count("without a progress thread"), 1, result.stderr)
                self.assertIn("rank 1 of 2 goes on without a progress thread: no thread can be started",
                              result.stderr)


class OtherUser(FaultTest):
    """Ranks that are not root, and ranks that nobody may look into."""

    def run_as_other(self, *arguments):
        if os.getuid() != 0:
            self.run_traffic(2, *arguments)
            return
        become = ("setpriv", "--reuid=65534", "--clear-groups")
        if not may(*become, "true"):
            self.skipTest("setpriv cannot become another user")
        # The build may lie where others cannot look.
        self.folder.chmod(0o755)
        program = self.folder / "fault_rank"
        shutil.copy(FAULT_RANK, program)
        program.chmod(0o755)
        library = os.path.dirname(os.path.dirname(FAULT_RANK)) + "/lib/libmpi_abi.so.1"
        shutil.copy(library, self.folder)
        result = self.run_job("-n", 2, *become, program, *arguments,
                              env={"LD_LIBRARY_PATH": str(self.folder)})
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_ordinary_user(self):
        self.run_as_other("traffic")

    def test_nobody_may_look(self):
        self.run_as_other("undumpable")
