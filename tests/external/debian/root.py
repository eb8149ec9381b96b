# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A throw-away Debian in a folder: its packages are unpacked, none of their scripts runs, nothing outside is changed."""

import os
import pathlib
import subprocess
import sys

import support

# apt resolves what these depend on, down to libc, because it is told that nothing is installed.
PACKAGES = """
    bash coreutils dash diffutils findutils gawk gcc gfortran grep hostname libc-bin make openssh-client procps sed util-linux
    python3 python3-distutils python3-numpy python3-mpi4py libopenblas0-pthread openmpi-bin libopenmpi-dev mpich libmpich-dev
    hpcc netpipe-openmpi netpipe-mpich2 lammps lammps-examples quantum-espresso quantum-espresso-data
    scalapack-mpi-test scalapack-test-common libscalapack-openmpi2.2 libscalapack-mpich2.2 libfftw3-mpi-dev
    libpetsc-real3.18-dev libpetsc3.18-dev-examples freefem++
""".split()
FULMAR = "/opt/fulmar"
RUNS = "/srv"  # inside: where programs run
LIBRARIES = ("openblas-pthread", "blas", "lapack", "")
# Open MPI refuses root and too few cores unless it is told; its shared memory reads the peer's as it does for users.
SETTINGS = {
    "PATH": "/usr/bin:/usr/sbin", "HOME": RUNS, "LC_ALL": "C", "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
}
ENTER = """\
root=$1; shift
mount --bind /dev "$root/dev" && mount --rbind /sys "$root/sys" && mount -t proc proc "$root/proc" || exit 126
mount --bind /dev/shm "$root/dev/shm" || exit 126
exec chroot "$root" "$@"
"""


def shell(command, cwd, timeout):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=timeout, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command[:4]))} ... failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


class Root:
    """The Debian below a folder, with Fulmar in /opt/fulmar."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve() / "root"
        self.archives = pathlib.Path(folder).resolve() / "archives"
        self.stamp = pathlib.Path(folder).resolve() / "unpacked"

    def make(self):
        """Downloads and unpacks the packages, once, and installs Fulmar, each time."""
        wanted = " ".join(PACKAGES)
        if not self.stamp.exists() or self.stamp.read_text() != wanted:
            self.download()
            self.unpack()
            self.configure()
            self.stamp.write_text(wanted)
        shell(["cmake", "--install", support.BUILD, "--prefix", f"{self.folder}{FULMAR}"], None, 300)

    def download(self):
        (self.archives / "partial").mkdir(parents=True, exist_ok=True)
        (self.archives / "status").touch()
        options = {"Dir::State::status": self.archives / "status", "Dir::Cache::archives": self.archives,
                   "Dir::Cache::pkgcache": "", "Dir::Cache::srcpkgcache": "", "APT::Sandbox::User": "root",
                   "Debug::NoLocking": "true"}
        words = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        shell(["apt-get", *words, "install", "-y", "--download-only", "--no-install-recommends", *PACKAGES], None, 1800)

    def python_source(self, name, version):
        """The folder of a Python package's sources, which Debian's package does not have; None where they cannot be had."""
        folder = self.folder.parent / f"{name}-{version}"
        tools = self.folder.parent / "tools"
        if not folder.exists():
            pip = [tools / "bin/python", "-m", "pip", "-q", "--disable-pip-version-check"]
            for command in ([sys.executable, "-m", "venv", tools], [*pip, "install", "setuptools<81", "wheel", "cython"],
                            [*pip, "download", "--no-deps", "--no-build-isolation", "--no-binary", name, f"{name}=={version}"]):
                status, output, _ = support.run(command, 600, cwd=self.folder.parent)
                if status != 0:
                    print(f"  cannot be had: {name} {version}:\n{output[-1000:]}", flush=True)
                    return None
            shell(["tar", "-xf", f"{name}-{version}.tar.gz"], self.folder.parent, 60)
        return folder

    def unpack(self):
        for name in ("bin", "sbin", "lib", "lib64"):
            (self.folder / "usr" / name).mkdir(parents=True, exist_ok=True)
            link = self.folder / name
            if not link.is_symlink():
                link.symlink_to(f"usr/{name}")
        for package in sorted(self.archives.glob("*.deb")):
            unpack = 'dpkg-deb --fsys-tarfile "$0" | tar -x --keep-directory-symlink -C "$1"'
            shell(["sh", "-c", unpack, str(package), str(self.folder)], None, 300)

    def configure(self):
        """What the packages' scripts would have done, as far as the programs need it."""
        for name in ("proc", "dev", "sys", "tmp", "etc", RUNS.strip("/")):
            (self.folder / name).mkdir(exist_ok=True)
        etc = self.folder / "etc"
        (etc / "passwd").write_text("root:x:0:0:root:/srv:/bin/sh\n")
        (etc / "group").write_text("root:x:0:\n")
        (etc / "hosts").write_text(f"127.0.0.1 localhost {os.uname().nodename}\n")
        paths = [f"/usr/lib/x86_64-linux-gnu/{name}" for name in LIBRARIES]
        (etc / "ld.so.conf").write_text("\n".join(paths) + "\n")
        shell_link = self.folder / "usr/bin/sh"
        if not shell_link.exists():
            shell_link.symlink_to("dash")
        status, output, _ = self.run(["/sbin/ldconfig"], 60)
        if status != 0:
            sys.exit(f"ldconfig in {self.folder} failed:\n{output}")

    def run(self, command, timeout, cwd=RUNS):
        """Runs a command inside, in name spaces of its own, so that nothing of it is left."""
        settings = [f"{name}={value}" for name, value in SETTINGS.items()]
        inside = ["/usr/bin/env", "-i", "-C", cwd, *settings, *command]
        outside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh", self.folder]
        return support.run([*outside, *inside], timeout)
