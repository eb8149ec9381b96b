# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: rpath_test.py CC MPIEXEC ABI LIBRARY HEADERS: what docs/other-abis.md says of programs with a path of their own.

A path of DT_RUNPATH counts less than what mpiexec offers, one of DT_RPATH counts more, and the remedies help.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CC, MPIEXEC, ABI, LIBRARY, HEADERS = sys.argv[1:]
SONAME = pathlib.Path(LIBRARY).name
ANOTHER = """
int MPI_Get_library_version(char* text, int* length) {
  const char* name = "another library";
  for (*length = 0; name[*length]; ++*length) text[*length] = name[*length];
  text[*length] = 0;
  return 0;
}
"""
PROGRAM = """
#include <mpi.h>
#include <stdio.h>
int main(void) {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(text, &length);
  puts(text);
  return 0;
}
"""


class Paths(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fulmar-rpath-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name).resolve()
        (cls.folder / "another.c").write_text(ANOTHER)
        (cls.folder / "program.c").write_text(PROGRAM)
        cls.compile("another.c", "-shared", "-fPIC", f"-Wl,-soname,{SONAME}", "-o", SONAME)
        cls.compile("program.c", f"-I{HEADERS}", SONAME, f"-Wl,-rpath,{cls.folder}", "-Wl,--disable-new-dtags", "-o", "rpath")
        cls.compile("program.c", f"-I{HEADERS}", SONAME, f"-Wl,-rpath,{cls.folder}", "-Wl,--enable-new-dtags", "-o", "runpath")

    @classmethod
    def compile(cls, *words):
        subprocess.run([CC, "-w", *words], cwd=cls.folder, check=True)

    def library_of(self, program, *options, **variables):
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("FULMAR_", "LD_"))}
        done = subprocess.run([MPIEXEC, "-n", "1", *options, self.folder / program], capture_output=True, text=True, timeout=50,
                              check=False, stdin=subprocess.DEVNULL, env=kept | variables)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split()[0]

    def test_runpath_counts_less_than_mpiexec(self):
        self.assertEqual(self.library_of("runpath"), "Fulmar")
        self.assertEqual(self.library_of("runpath", "--abi", ABI), "Fulmar")
        self.assertEqual(self.library_of("runpath", "--abi", "none"), "another")

    def test_rpath_counts_more(self):
        self.assertEqual(self.library_of("rpath"), "another")

    def test_preload_helps(self):
        self.assertEqual(self.library_of("rpath", "-x", f"LD_PRELOAD={LIBRARY}"), "Fulmar")

    @unittest.skipUnless(shutil.which("patchelf"), "no patchelf")
    def test_removing_the_path_helps(self):
        shutil.copy(self.folder / "rpath", self.folder / "removed")
        subprocess.run(["patchelf", "--remove-rpath", self.folder / "removed"], check=True)
        self.assertEqual(self.library_of("removed"), "Fulmar")


unittest.main(argv=sys.argv[:1])
