# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Spack's recipe for Fulmar.

Make the archive with `make dist`, put this file into a repository of recipes as packages/fulmar/package.py, and run in the folder of
the archive

    spack install --no-checksum fulmar

after which `spack install hpcc ^fulmar` builds other packages upon it. Networks' libraries are opened when a job runs, so none is
linked; `depends_on` of type run makes them present.
"""

import os

from spack.package import *


class Fulmar(CMakePackage):
    """An MPI library of the standard ABI: MPI 5.0 in C and Fortran over shared memory, TCP, InfiniBand, RoCE and libfabric. Programs
    that were built with MPICH or Open MPI run on it unchanged."""

    manual_download = True
    url = f"file://{os.getcwd()}/fulmar-0.1.0.tar.gz"

    license("BSD-3-Clause")

    version("0.1.0")

    variant("fortran", default=True, description="Fortran: mpif.h, mpi and mpi_f08")
    variant("verbs", default=False, description="InfiniBand and RoCE, through rdma-core")
    variant("libfabric", default=False, description="Networks that libfabric has")
    variant("sodium", default=True, description="TCP between hosts that can be encrypted")

    provides("mpi@:5.0")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type=("build", "run"), when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("python@3.9:", type="build")
    depends_on("libsodium", type="run", when="+sodium")
    depends_on("rdma-core", type="run", when="+verbs")
    depends_on("libfabric", type="run", when="+libfabric")

    conflicts("platform=darwin", msg="Fulmar needs Linux")
    conflicts("platform=windows", msg="Fulmar needs Linux")
    conflicts("%gcc@:11", msg="Fulmar needs C++20 as GCC 12 has it")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("FULMAR_TESTS", False),
            self.define_from_variant("FULMAR_FORTRAN", "fortran"),
        ]

    def setup_run_environment(self, env):
        env.set("MPICC", self.prefix.bin.mpicc)
        env.set("MPICXX", self.prefix.bin.mpicxx)
        if self.spec.satisfies("+fortran"):
            for name in ("MPIF77", "MPIF90", "MPIFC"):
                env.set(name, self.prefix.bin.mpifort)
        for library, variant in (("libsodium", "sodium"), ("rdma-core", "verbs"), ("libfabric", "libfabric")):
            if self.spec.satisfies(f"+{variant}"):
                for folder in self.spec[library].libs.directories:
                    env.append_path("LD_LIBRARY_PATH", folder)

    def setup_dependent_build_environment(self, env, dependent_spec):
        self.setup_run_environment(env)

    def setup_dependent_package(self, module, dependent_spec):
        self.spec.mpicc = self.prefix.bin.mpicc
        self.spec.mpicxx = self.prefix.bin.mpicxx
        if self.spec.satisfies("+fortran"):
            self.spec.mpif77 = self.spec.mpifc = self.prefix.bin.mpifort
