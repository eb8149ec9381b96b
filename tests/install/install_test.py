# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The installed tree: what is in it, that it can be moved, and that the usual ways of finding MPI find it."""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])

PROGRAM = """\
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("%d of %d\\n", rank, size);
  MPI_Finalize();
  return 0;
}
"""

PROJECT = """\
cmake_minimum_required(VERSION 3.16)
project(client LANGUAGES C CXX)
find_package(MPI REQUIRED)
add_executable(client client.c)
target_link_libraries(client PRIVATE MPI::MPI_C)
add_executable(client_cxx client.cc)
target_link_libraries(client_cxx PRIVATE MPI::MPI_CXX)
file(WRITE found.txt "${MPI_C_COMPILER}\\n${MPIEXEC_EXECUTABLE}\\n${MPI_C_VERSION}\\n")
"""


def run(*command, **options):
    """Standard output of a command that has to succeed."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} exited with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Install(unittest.TestCase):
    """One installation, moved before the first test."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fulmar-install-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name).resolve()
        run("cmake", "--install", BUILD, "--prefix", cls.root / "first")
        # A comma and a blank: what linkers and pkg-config split words at.
        (cls.root / "moved here, too").mkdir()
        cls.prefix = cls.root / "moved here, too" / "fulmar"
        shutil.move(cls.root / "first", cls.prefix)
        (cls.root / "client.c").write_text(PROGRAM)
        (cls.root / "client.cc").write_text(PROGRAM)

    def test_product_makes_all_that_is_installed(self):
        """`make install` builds the target `product` alone: every installed file that ninja makes has to be one of it."""
        listed = set(re.findall(rf'"{re.escape(str(BUILD))}/((?:bin|lib)/[^"]+)"', (BUILD / "cmake_install.cmake").read_text()))
        made = {line.split(":")[0] for line in run("ninja", "-C", BUILD, "-t", "targets", "all").splitlines()}
        product = set(run("ninja", "-C", BUILD, "-t", "commands", "product").split())
        installed = listed & made
        self.assertTrue({"lib/libmpi_abi.so.1", "bin/mpiexec"} <= installed, sorted(installed))
        self.assertEqual(sorted(installed - product), [])

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("LD_", "MPI", "FULMAR_", "PKG_CONFIG"))}
        return dict(kept, PATH=f"{self.prefix}/bin:{os.environ['PATH']}", **more)

    def run_two(self, program):
        out = run("mpiexec", "-n", "2", program, env=self.environment(), stdin=subprocess.DEVNULL)
        self.assertEqual(sorted(out.split("\n")), ["", "0 of 2", "1 of 2"])

    def test_tree_holds_what_it_promises(self):
        for path in ("bin/mpiexec", "bin/mpicc", "bin/mpicxx", "bin/mpifort", "include/mpi.h", "include/mpi-ext.h",
                     "bin/fulmar-raw",
                     "include/fulmar/mpi_fortran_handles.h", "include/fulmar/mpi_removed.h",
                     "share/doc/fulmar/examples/heat.c", "share/man/man3/MPI_Send.3", "lib/pkgconfig/fulmar.pc",
                     "lib/pkgconfig/mpi.pc", "lib/librwapi.so.1", "lib/pkgconfig/rwapi.pc", "include/rwapi.h",
                     "share/doc/fulmar/interfaces/rwapi.md", "lib/libsisci.so.1", "lib/pkgconfig/sisci.pc",
                     "include/sisci_api.h", "include/dis_types.h", "include/sisci_types.h", "include/sisci_error.h",
                     "share/doc/fulmar/interfaces/sisci.md", "lib/libvipl.so.1", "lib/vipl.so", "lib/pkgconfig/vipl.pc", "include/vipl.h",
                     "share/doc/fulmar/interfaces/vipl.md", "share/man/man7/vipl.7", "share/man/man7/sisci.7",
                     "share/doc/fulmar/README.md", "share/doc/fulmar/CHANGELOG.md",
                     "share/bash-completion/completions/mpirun", "lib/fulmar/mpich-abi/libmpich.so.12",
                     "lib/fulmar/mpich-abi/libmpichfort.so.12", "lib/fulmar/mpich-abi/libmpichcxx.so.12",
                     "lib/fulmar/openmpi-abi/libmpi_usempif08.so.40", "lib/fulmar/openmpi-abi/libmpi_cxx.so.40"):
            self.assertTrue((self.prefix / path).exists(), path)
        library = self.prefix / "lib/libmpi_abi.so.1"
        self.assertTrue(library.is_file() and not library.is_symlink())
        for link in ("libmpi_abi.so", "libmpi_abi.so.0"):
            self.assertEqual((self.prefix / "lib" / link).resolve(), library)
        self.assertIn("soname: [libmpi_abi.so.1]", run("readelf", "-d", library))
        for link, wrapper in (("mpic++", "mpicxx"), ("mpiCC", "mpicxx"), ("mpif77", "mpifort"),
                              ("mpif90", "mpifort")):
            self.assertEqual((self.prefix / "bin" / link).resolve(), self.prefix / "bin" / wrapper)

    def test_rwapi_is_found_by_pkg_config(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("pkg-config is not installed")
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "rwapi", env=environment))
        source = self.prefix / "share/doc/fulmar/examples/remote_write.c"
        run("cc", source, "-o", self.root / "remote_write", *flags)
        out = run(self.prefix / "bin/mpiexec", "-n", "2", self.root / "remote_write")
        self.assertIn("10 laps over 2 nodes", out)

    def test_sisci_is_found_by_pkg_config(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("pkg-config is not installed")
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "sisci", env=environment))
        source = self.prefix / "share/doc/fulmar/examples/shared_segment.c"
        run("cc", source, "-o", self.root / "shared_segment", *flags)
        out = run(self.prefix / "bin/mpiexec", "-n", "2", self.root / "shared_segment")
        self.assertIn("node 0: 10 laps over 2 nodes", out)

    def test_vipl_is_found_by_pkg_config(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("pkg-config is not installed")
        environment = {**os.environ, "PKG_CONFIG_PATH": str(self.prefix / "lib/pkgconfig")}
        flags = shlex.split(run("pkg-config", "--cflags", "--libs", "vipl", env=environment))
        source = self.prefix / "share/doc/fulmar/examples/virtual_interface.c"
        run("cc", source, "-o", self.root / "virtual_interface", *flags)
        out = run(self.prefix / "bin/mpiexec", "-n", "2", self.root / "virtual_interface")
        self.assertIn("process 0: 10 laps over 2 processes", out)

    def test_mpirun_is_mpiexec(self):
        self.assertEqual((self.prefix / "bin/mpirun").resolve(), self.prefix / "bin/mpiexec")
        out = run("mpirun", "-np", "2", "sh", "-c", "echo $FULMAR_SIZE", env=self.environment(),
                  stdin=subprocess.DEVNULL)
        self.assertEqual(out, "2\n2\n")

    def test_nothing_carries_the_build_folder(self):
        for path in self.prefix.rglob("*"):
            if path.is_file():
                self.assertNotIn(str(BUILD).encode(), path.read_bytes(), path)

    def test_wrapped_programs_run(self):
        for compiler, source in (("mpicc", "client.c"), ("mpicxx", "client.cc")):
            program = self.root / f"by_{compiler}"
            run(compiler, "-Wall", "-Werror", source, "-o", program, cwd=self.root, env=self.environment())
            self.run_two(program)
            self.assertEqual(run(program, env=self.environment()), "0 of 1\n")

    def test_compile_and_link_apart(self):
        run("mpicc", "-c", "client.c", "-o", "client.o", cwd=self.root, env=self.environment())
        run("mpicc", "client.o", "-o", "apart", cwd=self.root, env=self.environment())
        self.run_two(self.root / "apart")

    def test_pkg_config(self):
        for name in ("fulmar", "mpi", "mpi-c", "mpi-cxx"):
            flags = run("pkg-config", "--cflags", "--libs", name,
                        env=self.environment(PKG_CONFIG_PATH=f"{self.prefix}/lib/pkgconfig"))
            program = self.root / "by_pkg_config"
            run("sh", "-c", f"gcc client.c -o by_pkg_config {flags}", cwd=self.root)
            self.run_two(program)

    def test_find_package(self):
        # Without the comma: for libraries in such folders CMake itself writes a -Wl, that is cut.
        self.prefix = self.root / "moved here" / "fulmar"
        shutil.copytree(type(self).prefix, self.prefix, symlinks=True)
        project = self.root / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(PROJECT)
        for name in ("client.c", "client.cc"):
            shutil.copy(self.root / name, project)
        run("cmake", "-S", project, "-B", project / "build", env=self.environment())
        compiler, launcher, version = (project / "found.txt").read_text().splitlines()
        self.assertEqual(compiler, f"{self.prefix}/bin/mpicc")
        self.assertEqual(launcher, f"{self.prefix}/bin/mpiexec")
        self.assertTrue(re.fullmatch(r"5\.\d+", version), version)
        run("cmake", "--build", project / "build", env=self.environment())
        self.run_two(project / "build/client")
        self.run_two(project / "build/client_cxx")


if __name__ == "__main__":
    unittest.main()
