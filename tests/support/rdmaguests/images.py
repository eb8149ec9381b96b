# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The kernel of the guests: Debian's, downloaded and unpacked but never installed, and what they start from.

The cache has one folder per kernel package and choice of modules: `kernel`, the modules, and `order`, in which
they are loaded; `order.nfs` lists those that --nfs adds.
"""

import dataclasses
import fcntl
import hashlib
import lzma
import os
import pathlib
import platform
import re
import shutil
import struct
import subprocess
import tarfile

META_PACKAGE = "linux-image-amd64"  # the -cloud kernels have no rdma_rxe
# Those that a kernel has built in, or lacks, are passed over. What they depend on comes along.
MODULES = """virtio_pci virtio_net virtio_console virtio_rng 9p 9pnet_virtio overlay af_packet ipv6 dummy
    crc32_generic crc32_pclmul crc32c_generic libcrc32c ib_uverbs rdma_rxe rdma_ucm sch_netem""".split()
# With --nfs behind them: both sides of NFS 4.
NFS_MODULES = "nfs nfsv4 nfsd".split()
NEEDED = ("9p", "9pnet_virtio", "overlay", "ib_uverbs", "rdma_rxe")  # never built in
# Where those modules lie: of 4000, a few hundred are looked at.
FOLDERS = ("arch/", "crypto/", "lib/", "fs/9p/", "fs/netfs/", "fs/fscache/", "fs/overlayfs/", "fs/configfs/", "net/",
           "fs/lockd/", "fs/nfs/", "fs/nfs_common/", "fs/nfsd/",
           "drivers/infiniband/core/", "drivers/infiniband/sw/", "drivers/net/", "drivers/virtio/", "drivers/char/")
MODULE_PATH = re.compile(r"(?:\./)?(?:usr/)?lib/modules/([^/]+)/kernel/(.+/)([^/]+)\.ko(\.\w+)?")
KERNEL_PATH = re.compile(r"(?:\./)?boot/vmlinuz-.*")
APPLETS = """sh mount umount insmod mkdir cut cat grep ln ip hostname chroot sync poweroff sleep usleep mkfifo kill
    printf echo""".split()
INIT = pathlib.Path(__file__).with_name("init.sh")
CLOCK = pathlib.Path(__file__).with_name("clock.c")
SPARE_MIB = 256  # memory that QEMU and the programs around it need


class Unavailable(Exception):
    """No guest can be had here; the text says why and what to do."""


@dataclasses.dataclass
class Image:
    """A kernel that can be booted."""
    folder: pathlib.Path
    version: str
    clock: pathlib.Path  # a program that measures the time-stamp counter; may not be there

    @property
    def kernel(self):
        return self.folder / "kernel"

    def write_initramfs(self, path, nfs=False):
        """What the kernel starts from: init.sh as process 1, busybox, the modules."""
        order = "".join((self.folder / name).read_text() for name in ("order", "order.nfs")[:1 + nfs])
        entries = [(name, 0o40755, b"") for name in ("bin", "dev", "proc", "sys", "mod")]
        entries += [("init", 0o100755, INIT.read_bytes()), ("mod/order", 0o100644, order.encode()),
                    ("bin/busybox", 0o100755, pathlib.Path(find("busybox")).read_bytes())]
        entries += [(f"bin/{name}", 0o120777, b"busybox") for name in APPLETS]
        entries += [(f"mod/{name}", 0o100644, (self.folder / name).read_bytes()) for name in order.split()]
        path.write_bytes(cpio(entries))


def find(program):
    """Where a program lies; None: nowhere."""
    return shutil.which(program, path=os.environ.get("PATH", "/usr/bin:/bin") + ":/usr/sbin:/sbin")


def cpio(entries):
    """An archive in the form that the kernel unpacks ("newc"); entries are (name, mode, content)."""
    parts = []
    for number, (name, mode, content) in enumerate([*entries, ("TRAILER!!!", 0, b"")], start=1):
        fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
        head = b"070701" + b"".join(b"%08x" % field for field in fields) + name.encode() + b"\0"
        parts += [head, b"\0" * (-len(head) % 4), content, b"\0" * (-len(content) % 4)]
    return b"".join(parts)


def check_machine(wanted_mib):
    """Raises Unavailable where this machine lacks what guests need."""
    if platform.machine() != "x86_64":
        raise Unavailable(f"guests need an x86-64 machine, this is {platform.machine()}")
    packages = {"qemu-system-x86_64": "qemu-system-x86", "busybox": "busybox-static", "rdma": "iproute2"}
    missing = [package for program, package in packages.items() if find(program) is None]
    if missing:
        raise Unavailable(f"missing: apt install {' '.join(missing)}")
    if b"ld-linux" in pathlib.Path(find("busybox")).read_bytes()[:4096]:
        raise Unavailable("busybox is not linked statically: apt install busybox-static")
    free = re.search(r"MemAvailable: *(\d+)", pathlib.Path("/proc/meminfo").read_text())
    free_mib = int(free[1]) // 1024 if free else 0
    if free_mib < wanted_mib + SPARE_MIB:
        raise Unavailable(f"the guests need {wanted_mib + SPARE_MIB} MiB of memory, {free_mib} are free; see --mem")


def prepare():
    """The kernel to boot; downloads and unpacks it where the cache does not have it."""
    base = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    cache = pathlib.Path(os.environ.get("RDMAVM_CACHE") or base / "fulmar" / "rdmavm")
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with open(cache / "lock", "w", encoding="ascii") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            folder = _cached_kernel(cache)
            clock = _clock(cache)
    except OSError as problem:
        raise Unavailable(f"the cache of kernels cannot be used: {problem}") from problem
    return Image(folder, (folder / "version").read_text(), clock)


def _cached_kernel(cache):
    choice = hashlib.sha256(" ".join((*MODULES, *NFS_MODULES, *FOLDERS)).encode()).hexdigest()[:8]
    given = os.environ.get("RDMAVM_KERNEL_DEB")
    newest = cache / f"newest.{choice}"  # the kernel that is kept until somebody deletes the cache
    if given:
        package = pathlib.Path(given)
        if not package.is_file():
            raise Unavailable(f"RDMAVM_KERNEL_DEB={given}: no such file")
        folder = cache / f"{package.stem}.{package.stat().st_size}.{choice}"
        if not folder.is_dir():
            unpack(package, folder)
    elif newest.exists():
        folder = cache / newest.read_text()
    else:
        package = download(cache / "download")
        folder = cache / f"{package.stem}.{choice}"
        unpack(package, folder)
        shutil.rmtree(cache / "download")
        newest.write_text(folder.name)
    return folder


def download(folder):
    """Fetches the newest kernel package of this system into a fresh folder."""
    if shutil.which("apt-get") is None:
        raise Unavailable("the kernel comes through apt, which is not here; RDMAVM_KERNEL_DEB names a package")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    problem = ""
    for refresh in (False, True):  # old lists name packages that are gone
        if refresh:
            subprocess.run(["apt-get", "-qq", "update"], check=False, capture_output=True, stdin=subprocess.DEVNULL)
        listed = subprocess.run(["apt-cache", "depends", META_PACKAGE], capture_output=True, text=True, check=False)
        names = re.findall(r"Depends: (linux-image-[0-9]\S*)", listed.stdout)
        if not names:
            problem = f"apt knows no {META_PACKAGE}"
            continue
        fetched = subprocess.run(["apt-get", "-qq", "-o", "APT::Sandbox::User=", "download", names[0]], cwd=folder,
                                 capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
        package = next(folder.glob("*.deb"), None)
        if fetched.returncode == 0 and package:
            return package
        problem = f"apt cannot download {names[0]}: {fetched.stderr.strip()[-300:]}"
    raise Unavailable(f"{problem}; RDMAVM_KERNEL_DEB names a package")


def unpack(package, folder):
    """Leaves in `folder` what a guest needs of a kernel package."""
    kernel, version, modules = read_package(package)
    order = load_order(modules)
    behind = load_order(modules, order, NFS_MODULES)
    missing = [name for name in NEEDED if name not in order]
    if not kernel or missing:
        raise Unavailable(f"{package.name} is no kernel for this: it lacks {' '.join(missing) or 'vmlinuz'}")
    fresh = folder.with_name(folder.name + ".new")
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir()
    (fresh / "kernel").write_bytes(unpack_kernel(kernel))
    (fresh / "version").write_text(version)
    for file, names in (("order", order), ("order.nfs", behind)):
        (fresh / file).write_text("".join(f"{name}.ko\n" for name in names))
    for name in order + behind:
        (fresh / f"{name}.ko").write_bytes(modules[name])
    shutil.rmtree(folder, ignore_errors=True)
    fresh.rename(folder)


def read_package(package):
    """The kernel, its version, and the content of the modules that may matter, by name."""
    kernel, version, modules = b"", "", {}
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as unpacker:
        with tarfile.open(fileobj=unpacker.stdout, mode="r|") as archive:
            for member in archive:
                found = MODULE_PATH.fullmatch(member.name)
                if KERNEL_PATH.fullmatch(member.name) and member.isfile():
                    kernel = archive.extractfile(member).read()
                elif found and member.isfile() and wanted_folder(found[2]):
                    version = found[1]
                    content = archive.extractfile(member).read()
                    modules[found[3].replace("-", "_")] = expand(content, found[4], member.name)
    return kernel, version, modules


def wanted_folder(folder):
    return folder == "drivers/net/" or (folder.startswith(FOLDERS) and not folder.startswith("drivers/net/"))


def expand(content, suffix, name):
    if suffix is None:
        return content
    if suffix == ".xz":
        return lzma.decompress(content)
    raise Unavailable(f"{name}: modules packed like this cannot be read; RDMAVM_KERNEL_DEB names another package")


def load_order(modules, loaded=(), wanted=MODULES):
    """`wanted` as far as they are there, each behind those that it says it depends on, without those `loaded`."""
    order = []

    def put(name):
        if name in order or name in loaded or name not in modules:
            return
        depends = re.search(rb"\bdepends=([\w,-]*)\0", modules[name])
        for other in depends[1].decode().split(",") if depends else []:
            put(other.replace("-", "_"))
        order.append(name)

    for name in wanted:
        put(name)
    return order


def unpack_kernel(packed):
    """The ELF file in a bzImage, which would cost an emulated processor seconds at every boot; QEMU starts it by its
    PVH note. Where it cannot be had the bzImage does."""
    setup_sectors = packed[0x1F1] or 4
    offset, length = struct.unpack_from("<II", packed, 0x248)  # of the payload; the last word is its size
    begin = (setup_sectors + 1) * 512 + offset
    try:
        elf = lzma.decompress(packed[begin:begin + length - 4], format=lzma.FORMAT_XZ)
    except lzma.LZMAError:
        return packed
    return elf if elf.startswith(b"\x7fELF") else packed


def _clock(cache):
    """The program of clock.c, where there is a compiler."""
    program = cache / ("clock." + hashlib.sha256(CLOCK.read_bytes()).hexdigest()[:8])
    if not program.exists() and shutil.which("cc"):
        subprocess.run(["cc", "-O1", "-o", program, CLOCK], check=False, capture_output=True)
    return program
