# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""FULMAR_JOB_FD names something that is no segment of this job, or a damaged one."""

import fcntl
import os
import struct
import subprocess

from fault_support import FAULT_RANK, FaultTest


class Segment(FaultTest):
    def run_with(self, descriptor, rank="0", size="1"):
        env = {**os.environ, "FULMAR_JOB_FD": str(descriptor), "FULMAR_RANK": rank, "FULMAR_SIZE": size}
        env.pop("FULMAR_JOB_SOCKET", None)
        inherited = [descriptor] if isinstance(descriptor, int) else []
        return subprocess.run([FAULT_RANK, "traffic", "1000"], env=env, pass_fds=inherited, timeout=60,
                              stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)

    def memory(self, size, content=b""):
        """Sealed like mpiexec's."""
        descriptor = os.memfd_create("test", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self.addCleanup(os.close, descriptor)
        os.ftruncate(descriptor, size)
        os.pwrite(descriptor, content, 0)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        return descriptor

    def test_memory_that_is_not_sealed(self):
        descriptor = os.memfd_create("test")
        self.addCleanup(os.close, descriptor)
        os.ftruncate(descriptor, 64 << 20)
        self.assert_clear_error(self.run_with(descriptor), "FULMAR_JOB_FD")

    def real_segment(self):
        """The control part of a job that mpiexec made, before its rank started, and the size of all."""
        script = ("import os; fd = int(os.environ['FULMAR_JOB_FD']);"
                  "open('segment', 'wb').write(os.pread(fd, 4096, 0));"
                  "open('size', 'w').write(str(os.fstat(fd).st_size))")
        result = self.run_job("-n", 1, "python3", "-c", script)
        self.assertEqual(result.returncode, 0, result.stderr)
        return (bytearray((self.folder / "segment").read_bytes()),
                int((self.folder / "size").read_text()))

    def test_wrong_descriptor(self):
        for text in ("999", "-1", "garbage", "1e3", "99999999999999999999", "0x3"):
            with self.subTest(text=text):
                self.assert_clear_error(self.run_with(text), "FULMAR_JOB_FD")

    def test_wrong_kind_of_file(self):
        reader, writer = os.pipe()
        folder = os.open(self.folder, os.O_RDONLY)
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in (reader, writer, folder, null):
            self.addCleanup(os.close, descriptor)
            with self.subTest(file=os.readlink(f"/proc/self/fd/{descriptor}")):
                self.assert_clear_error(self.run_with(descriptor), "FULMAR_JOB_FD")

    def test_short_and_garbage_files(self):
        for size in (0, 1, 255, 256, 4096, 1 << 20, 8 << 20):
            for content in (b"", os.urandom(min(size, 4096)), b"FULMARJ1" + b"\xff" * 248,
                            b"FULMARJ1" + b"\0" * 248):
                with self.subTest(size=size, content=content[:9]):
                    descriptor = self.memory(size, content[:size])
                    self.assert_clear_error(self.run_with(descriptor), "segment")

    def test_another_layout_version_is_named(self):
        content, size = self.real_segment()
        self.assertEqual(self.run_with(self.memory(size, bytes(content))).returncode, 0)
        struct.pack_into("<I", content, 8, 999)
        self.assert_clear_error(self.run_with(self.memory(size, bytes(content))), "999", "mpiexec")

    def test_damaged_words_are_errors_or_harmless(self):
        content, size = self.real_segment()
        for offset in range(0, 256, 4):
            for value in (0, 1, 0x7fffffff, 0xffffffff):
                damaged = bytearray(content)
                struct.pack_into("<I", damaged, offset, value)
                with self.subTest(offset=offset, value=value):
                    result = self.run_with(self.memory(size, bytes(damaged)))
                    self.assertIn(result.returncode, range(0, 128), result.stderr)

    def test_rank_out_of_range(self):
        content, size = self.real_segment()
        for rank, count in (("1", "1"), ("-1", "1"), ("x", "1"), ("0", "2"), ("", ""), ("0", "0"),
                            ("4294967296", "1")):
            with self.subTest(rank=rank, count=count):
                result = self.run_with(self.memory(size, bytes(content)), rank, count)
                self.assert_clear_error(result, "FULMAR_RANK")
