# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The wheel: pip installs it into an environment, where everything works, and removes it again."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["FULMAR_SOURCE_DIR"])

# Loads the library by both of its names: there has to be one of it in memory.
TWO_NAMES = """\
import ctypes, sys
libraries = [ctypes.CDLL(f"{sys.prefix}/lib/libmpi_abi.so.{n}") for n in (0, 1)]
addresses = {ctypes.cast(library.MPI_Init, ctypes.c_void_p).value for library in libraries}
print(len(addresses))
"""


# As mpi4py does it: the library by its path, then its name as a module needs it.
VERSION_OF = """
import ctypes, os, sys
ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_GLOBAL)
library = ctypes.CDLL(os.path.basename(sys.argv[1]))
text, length = ctypes.create_string_buffer(8192), ctypes.c_int()
library.MPI_Get_library_version(text, ctypes.byref(length))
print(text.value.decode())
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=200, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} exited with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Wheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fulmar-wheel-")
        cls.addClassCleanup(folder.cleanup)
        cls.root = pathlib.Path(folder.name).resolve()
        run("cmake", "--install", BUILD, "--prefix", cls.root / "tree", "--strip")
        run(SOURCE / "packaging/make_wheel", "--local", cls.root / "tree", cls.root, "1.2.3")
        cls.environment = {name: value for name, value in os.environ.items()
                           if not name.startswith(("LD_", "MPI", "FULMAR_", "PIP_", "PYTHON"))}
        cls.venv = cls.root / "venv"
        run(sys.executable, "-m", "venv", cls.venv, env=cls.environment)
        cls.pip("install", "--no-index", *cls.root.glob("*.whl"))

    @classmethod
    def pip(cls, *arguments):
        return run(cls.venv / "bin/python", "-m", "pip", "--disable-pip-version-check", *arguments, env=cls.environment)

    def run_there(self, *command):
        path = f"{self.venv}/bin:{self.environment['PATH']}"
        return run(*command, env=self.environment | {"PATH": path}, cwd=self.root, stdin=subprocess.DEVNULL)

    def test_programs_compile_and_run(self):
        for compiler, name, result in (("mpicc", "hello.c", "hello from rank 1 of 2"), ("mpicxx", "sort.cc", "on 2 ranks: sorted")):
            self.run_there(compiler, "-O1", SOURCE / "examples" / name, "-o", "program")
            for launcher in ("mpiexec", "mpirun"):
                self.assertIn(result, self.run_there(launcher, "-n", "2", "./program"))

    def test_both_names_of_the_library_are_one_library(self):
        self.assertEqual(self.run_there("python", "-c", TWO_NAMES).strip(), "1")

    def test_libraries_of_other_abis_are_found_without_mpiexec(self):
        for name in ("libmpi.so.12", "libmpi.so.40"):
            text = self.run_there("python", "-c", VERSION_OF, f"{self.venv}/lib/{name}")
            self.assertTrue(text.startswith("Fulmar"), f"{name}: {text}")

    def test_mpiexec_offers_a_library_without_a_version(self):
        text = self.run_there("mpiexec", "-n", "1", "python", "-c", VERSION_OF, "libmpi.so")
        self.assertTrue(text.startswith("Fulmar"), text)

    def test_the_version_is_that_of_the_package(self):
        self.assertIn("Version: 1.2.3", self.pip("show", "fulmar-mpi"))

    def test_z_nothing_is_left_when_it_is_removed(self):
        self.pip("uninstall", "-y", "fulmar-mpi")
        left = [path for path in self.venv.rglob("*") if not path.is_dir() and re.search(r"mpi|fulmar", path.name) and "site-packages" not in path.parts]
        self.assertEqual(left, [])


class Promise(unittest.TestCase):
    def test_a_build_that_needs_more_than_the_tag_says_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            tree = pathlib.Path(folder) / "tree"
            (tree / "bin").mkdir(parents=True)
            program = tree / "bin/needs_more"
            subprocess.run(["c++", "-x", "c++", "-", "-o", program], check=True, text=True,
                           input="#include <string>\nint main(int n, char** v) { return std::string(v[0], n).size() == 9; }\n")
            done = subprocess.run([SOURCE / "packaging/make_wheel", tree, folder, "1"], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertIn("needs_more needs libstdc++.so.6, which is neither glibc's nor in the wheel", done.stderr)


if __name__ == "__main__":
    unittest.main()
