# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""An installed tree compiles Fortran: by mpifort, and by CMake's FindMPI. Modules are made at their first use."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])
COMPILER = os.environ["FULMAR_FORTRAN_COMPILER"]

PROGRAM = """program hello
  {use}
  implicit none
  {include}
  integer :: rank, ranks, ierror
  call MPI_Init(ierror)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  write (*, '(i0,a,i0)') rank, ' of ', ranks
  call MPI_Finalize(ierror)
end program
"""
BINDINGS = {"f08": ("use mpi_f08", ""), "mpi": ("use mpi", ""), "mpif": ("", "include 'mpif.h'")}
PROJECT = """cmake_minimum_required(VERSION 3.16)
project(client LANGUAGES C Fortran)
find_package(MPI REQUIRED COMPONENTS Fortran)
file(WRITE ${CMAKE_SOURCE_DIR}/found.txt
     "${MPI_Fortran_HAVE_F08_MODULE} ${MPI_Fortran_HAVE_F90_MODULE} ${MPI_Fortran_HAVE_F77_HEADER}")
foreach(binding IN ITEMS f08 mpi mpif)
  add_executable(client_${binding} ${binding}.f90)
  target_link_libraries(client_${binding} PRIVATE MPI::MPI_Fortran)
endforeach()
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} gave {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


class Fortran(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.scratch.name)
        run("cmake", "--install", BUILD, "--prefix", cls.root / "first")
        cls.prefix = cls.root / "moved here"
        shutil.move(cls.root / "first", cls.prefix)
        for name, (use, include) in BINDINGS.items():
            (cls.root / f"{name}.f90").write_text(PROGRAM.format(use=use, include=include))

    @classmethod
    def tearDownClass(cls):
        cls.scratch.cleanup()

    def setUp(self):
        self.cache = self.root / "cache" / self.id()

    def environment(self, **more):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("LD_", "MPI", "FULMAR_", "PKG_CONFIG"))}
        return dict(kept, PATH=f"{self.prefix}/bin:{os.environ['PATH']}", FULMAR_FC=COMPILER,
                    **{"FULMAR_MODULE_CACHE": str(self.cache), **more})

    def run_two(self, program):
        out = run("mpiexec", "-n", "2", program, env=self.environment(), stdin=subprocess.DEVNULL)
        self.assertEqual(sorted(out.split()), sorted("0 of 2 1 of 2".split()))

    def test_mpifort_compiles_all_bindings(self):
        for name in BINDINGS:
            run("mpifort", f"{name}.f90", "-o", name, cwd=self.root, env=self.environment())
            self.run_two(self.root / name)
        made = list(self.cache.iterdir())
        self.assertEqual(len(made), 1, "one folder of modules, and nothing half done")
        self.assertEqual({path.name for path in made[0].iterdir()} & {"mpi.mod", "mpi_f08.mod"},
                         {"mpi.mod", "mpi_f08.mod"})

    def test_the_library_is_the_one_of_the_standard(self):
        self.assertIn("soname: [libmpifort_abi.so.1]", run("readelf", "-d", self.prefix / "lib/libmpifort_abi.so"))

    def test_the_variable_of_the_wrapper_is_no_option(self):
        run("mpifort", "f08.f90", "-o", "quiet", cwd=self.root, env=self.environment())
        done = subprocess.run([self.root / "quiet"], capture_output=True, text=True, check=False, env=self.environment())
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_modules_of_the_installation_come_first(self):
        run("mpifort", "-c", "f08.f90", cwd=self.root, env=self.environment())
        (self.prefix / "lib/fulmar").mkdir(exist_ok=True)
        shutil.move(self.cache, self.prefix / "lib/fulmar/modules")
        try:
            run("mpifort", "-c", "f08.f90", cwd=self.root, env=self.environment())
            self.assertFalse(self.cache.exists())
        finally:
            shutil.rmtree(self.prefix / "lib/fulmar/modules")

    def test_many_at_once_make_the_modules_once(self):
        processes = [subprocess.Popen(["mpifort", "-c", f"{self.root}/f08.f90", "-o", f"{self.root}/part{i}.o"],
                                      cwd=self.root, env=self.environment()) for i in range(4)]
        self.assertEqual([process.wait() for process in processes], [0] * 4)
        self.assertEqual(len(list(self.cache.iterdir())), 1)

    def test_a_cache_that_cannot_be_written_is_named(self):
        blocked = self.root / "file"
        blocked.write_text("")
        done = subprocess.run(["mpifort", "-c", "f08.f90"], cwd=self.root, capture_output=True, text=True, check=False,
                              env=self.environment(FULMAR_MODULE_CACHE=f"{blocked}/cache"))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("FULMAR_MODULE_CACHE", done.stderr)

    def test_integers_of_8_bytes_are_refused_by_name(self):
        done = subprocess.run(["mpifort", "-fdefault-integer-8", "-c", "mpif.f90"], cwd=self.root, capture_output=True,
                              text=True, check=False, env=self.environment())
        self.assertEqual(done.returncode, 2)
        self.assertIn("-fdefault-integer-8: the ABI of MPI has INTEGERs of 4 bytes", done.stderr)
        if "gfortran" not in COMPILER:
            return
        # Also without the wrapper.
        done = subprocess.run([COMPILER, "-fdefault-integer-8", f"-I{self.prefix}/include", "-c", "mpif.f90"],
                              cwd=self.root, capture_output=True, text=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        place = re.search(r"mpif\.h:(\d+):", done.stderr)  # the compiler names the line
        line = (self.prefix / "include/mpif.h").read_text().splitlines()[int(place[1]) - 1]
        self.assertIn("MPI_NEEDS_INTEGER_OF_4_BYTES", line)

    def test_find_package(self):
        project = self.root / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(PROJECT)
        for name in BINDINGS:
            shutil.copy(self.root / f"{name}.f90", project)
        run("cmake", "-S", project, "-B", project / "build", f"-DCMAKE_Fortran_COMPILER={COMPILER}",
            env=self.environment())
        self.assertEqual((project / "found.txt").read_text(), "TRUE TRUE TRUE")
        run("cmake", "--build", project / "build", env=self.environment())
        for name in BINDINGS:
            self.run_two(project / "build" / f"client_{name}")


if __name__ == "__main__":
    unittest.main()
