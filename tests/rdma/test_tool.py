# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""tests/support/rdmavm without a guest: what it refuses, what it makes of a kernel package, how results are read."""

import io
import lzma
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tarfile
import tempfile
import unittest

import support

sys.path.insert(0, str(support.RDMAVM.parent))
from rdmaguests import images  # noqa: E402


def rdmavm(*words, **variables):
    environment = dict(os.environ, **variables)
    return subprocess.run([sys.executable, "-B", support.RDMAVM, *words], capture_output=True, text=True, check=False,
                          stdin=subprocess.DEVNULL, env=environment)


class Refusals(unittest.TestCase):
    def test_bad_usage(self):
        for words in ([], ["--nodes", "9", "--", "true"], ["--cpus", "none", "--", "true"], ["--", ],
                      ["--rw", "/nowhere/at/all", "--", "true"], ["--nonsense", "--", "true"]):
            run = rdmavm(*words)
            self.assertEqual(run.returncode, 2, f"{words}: {run.stdout}{run.stderr}")
            self.assertLess(len(run.stderr), 2000)

    def test_help_names_every_option(self):
        text = rdmavm("--help").stdout
        for option in ("--nodes", "--rails", "--cpus", "--mem", "--mtu", "--no-device", "--nfs", "--rw", "--timeout", "--grace",
                       "--accel", "--label", "--verbose", "--prepare"):
            self.assertIn(option, text)

    def test_what_is_missing_is_named_and_skips(self):
        run = rdmavm("--", "true", PATH="/nowhere")
        self.assertEqual(run.returncode, support.SKIPPED, run.stderr)
        self.assertIn("apt install", run.stderr)
        self.assertIn("qemu-system-x86", run.stderr)

    def test_more_memory_than_there_is(self):
        try:
            images.check_machine(0)
        except images.Unavailable as reason:
            self.skipTest(str(reason))
        with self.assertRaisesRegex(images.Unavailable, "MiB of memory"):
            images.check_machine(1 << 40)


def module(*depends):
    return b"\x7fELF...\0license=GPL\0depends=" + ",".join(depends).encode() + b"\0name=x\0"


def packed_kernel(payload):
    """As the boot protocol has it: sectors of set-up, and where the payload lies behind them."""
    packed = lzma.compress(payload, check=lzma.CHECK_CRC32) + struct.pack("<I", len(payload))
    head = bytearray(3 * 512 + 100)
    head[0x1F1] = 2
    struct.pack_into("<II", head, 0x248, 100, len(packed))
    return bytes(head) + packed


class Images(unittest.TestCase):
    def test_modules_come_behind_what_they_depend_on(self):
        modules = {"rdma_rxe": module("ib-core", "udp_tunnel"), "ib_core": module(), "udp_tunnel": module(),
                   "ib_uverbs": module("ib_core"), "unwanted": module("ib_core")}
        self.assertEqual(images.load_order(modules), ["ib_core", "ib_uverbs", "udp_tunnel", "rdma_rxe"])

    def test_more_modules_come_without_those_that_are_loaded(self):
        modules = {"nfsd": module("grace", "sunrpc", "exportfs"), "sunrpc": module("crc"), "grace": module(),
                   "crc": module()}
        self.assertEqual(images.load_order(modules, ["crc"], ["nfs", "nfsd"]), ["grace", "sunrpc", "nfsd"])

    def test_the_kernel_is_unpacked_where_that_is_possible(self):
        elf = b"\x7fELF" + bytes(1000)
        self.assertEqual(images.unpack_kernel(packed_kernel(elf)), elf)
        other = packed_kernel(b"no ELF file")
        self.assertEqual(images.unpack_kernel(other), other)
        self.assertEqual(images.unpack_kernel(bytes(4096)), bytes(4096))

    def test_an_archive_has_what_was_put_in(self):
        archive = images.cpio([("bin", 0o40755, b""), ("bin/a", 0o100755, b"12345"), ("bin/b", 0o120777, b"a")])
        found, at = {}, 0
        while at < len(archive):
            fields = [int(archive[at + 6 + 8 * i:at + 14 + 8 * i], 16) for i in range(13)]
            name = archive[at + 110:at + 109 + fields[11]].decode()
            at = (at + 110 + fields[11] + 3) // 4 * 4
            found[name] = (fields[1], archive[at:at + fields[6]])
            at = (at + fields[6] + 3) // 4 * 4
        self.assertEqual(found.pop("TRAILER!!!"), (0, b""))
        self.assertEqual(found, {"bin": (0o40755, b""), "bin/a": (0o100755, b"12345"), "bin/b": (0o120777, b"a")})

    def test_a_package_that_is_no_such_kernel_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            package = self.package(pathlib.Path(folder), {"boot/vmlinuz-9": packed_kernel(b"\x7fELF"),
                                                          "lib/modules/9/kernel/fs/9p/9p.ko": module()})
            with self.assertRaisesRegex(images.Unavailable, "lacks .*rdma_rxe"):
                images.unpack(package, package.parent / "kernel")

    def test_of_a_package_what_is_needed_is_kept(self):
        base = "./lib/modules/9/kernel/"
        files = {"./boot/vmlinuz-9": packed_kernel(b"\x7fELF kernel"), f"{base}fs/9p/9p.ko": module(),
                 f"{base}net/9p/9pnet_virtio.ko": module(),
                 f"{base}fs/overlayfs/overlay.ko.xz": lzma.compress(module()),
                 f"{base}drivers/infiniband/core/ib_uverbs.ko": module(),
                 f"{base}drivers/infiniband/sw/rxe/rdma_rxe.ko": module("ib_uverbs"),
                 f"{base}drivers/infiniband/hw/mlx5/mlx5_ib.ko": module()}
        with tempfile.TemporaryDirectory() as folder:
            kernel = pathlib.Path(folder) / "kernel"
            images.unpack(self.package(pathlib.Path(folder), files), kernel)
            self.assertEqual((kernel / "kernel").read_bytes(), b"\x7fELF kernel")
            self.assertEqual((kernel / "version").read_text(), "9")
            order = (kernel / "order").read_text().split()
            self.assertEqual(sorted(order), sorted(path.name for path in kernel.glob("*.ko")))
            self.assertLess(order.index("ib_uverbs.ko"), order.index("rdma_rxe.ko"))
            self.assertNotIn("mlx5_ib.ko", order)

    @staticmethod
    def package(folder, files):
        """A Debian package with these files."""
        if shutil.which("dpkg-deb") is None:
            raise unittest.SkipTest("there is no dpkg-deb")
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w:xz") as archive:
            for name, content in files.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))
        empty = io.BytesIO()
        tarfile.open(fileobj=empty, mode="w:xz").close()
        parts = {"debian-binary": b"2.0\n", "control.tar.xz": empty.getvalue(), "data.tar.xz": data.getvalue()}
        text = b"!<arch>\n"
        for name, content in parts.items():
            text += f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(content):<10}`\n".encode()
            text += content + b"\n" * (len(content) % 2)
        package = folder / "linux-image-9.deb"
        package.write_bytes(text)
        return package


class Results(unittest.TestCase):
    def test_each_step_has_its_own(self):
        text = ("noise\nM begin a\nM begin of a text\n\nM end a 0 3\nM begin b\n[0] x\n\nM end b 124 9\n"
                "M begin c\nnever ends\n")
        found = support.results_in(text, "M")
        self.assertEqual(sorted(found), ["a", "b"])
        self.assertEqual((found["a"].status, found["a"].seconds), (0, 3))
        self.assertIn("M begin of a text", found["a"].output)
        self.assertEqual((found["b"].status, found["b"].output), (124, "[0] x\n\n"))

    def test_steps_are_run_whatever_fails(self):
        steps = [support.Step("one", 10, ["sh", "-c", "echo $COLOUR; exit 3"], {"COLOUR": "blue"}),
                 support.Step("two", 10, ["sh", "-c", "printf half; cat"]), support.Step("three", 1, ["sleep", "60"])]
        with tempfile.NamedTemporaryFile("w") as file:
            file.writelines(step.line() for step in steps)
            file.flush()
            text = subprocess.run([support.STEPS, "M", file.name], capture_output=True, text=True, check=True).stdout
        found = support.results_in(text, "M")
        self.assertEqual([found[name].status for name in ("one", "two", "three")], [3, 0, 124])
        self.assertEqual(found["one"].output.strip(), "blue")
        self.assertEqual(found["two"].output.strip(), "half")


support.main()
