# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""All constants of mpif.h and of both modules have the values of mpi.h."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])
MODULES = BUILD / "generated" / "fortran" / "modules"
MPIFORT = BUILD / "bin" / "mpifort"

# What is different on purpose: indices count from 1, strings have no zero byte, kinds are Fortran's own.
OWN = {"MPI_SOURCE": 1, "MPI_TAG": 2, "MPI_ERROR": 3, "MPI_STATUS_SIZE": 8, "MPI_ADDRESS_KIND": 8,
       "MPI_COUNT_KIND": 8, "MPI_OFFSET_KIND": 8, "MPI_INTEGER_KIND": 4}
HEADERS = {"mpif": ("", "include 'mpif.h'"), "mpi": ("use mpi", ""), "f08": ("use mpi_f08", "")}
HANDLE = re.compile(r"type\((MPI_\w+)\), parameter :: (\w+)")


def handles():
    """The names of constants that are handles, from the module."""
    return {name for _, name in HANDLE.findall((MODULES / "mpi_f08.f90").read_text())}


def integers():
    text = (MODULES / "mpi_abi_constants.f90").read_text()
    return set(re.findall(r"integer[^:]*, parameter :: (MPI\w+)", text))


def constants_of_c():
    """Every constant of mpi.h that is a number or a handle: an enumerator, or a macro with a value."""
    text = (BUILD / "generated" / "include" / "mpi.h").read_text()
    return set(re.findall(r"^\s*(?:#\s*define\s+)?(MPIX?_[A-Z][A-Z0-9_]*)\b(?!\()", text, re.MULTILINE))


class Constants(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.names = sorted(integers() | handles())
        cls.in_c = cls.values_in_c()

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    @classmethod
    def compile_and_run(cls, compiler, name, text):
        source = cls.folder / name
        source.write_text(text)
        program = source.with_suffix(".exe")
        subprocess.run([*compiler, "-o", program, source], check=True, cwd=cls.folder)
        lines = subprocess.run([program], capture_output=True, text=True, check=True).stdout.splitlines()
        return {name: int(value) for name, value in map(str.split, lines)}

    @classmethod
    def values_in_c(cls):
        prints = "\n".join(f'  printf("%s %lld\\n", "{name}", (long long)(intptr_t){name});'
                           for name in cls.names if name not in OWN)
        text = f"#include <mpi.h>\n#include <stdint.h>\n#include <stdio.h>\nint main(void) {{\n{prints}\n  return 0;\n}}\n"
        return cls.compile_and_run([BUILD / "bin" / "mpicc"], "constants.c", text)

    def values_in_fortran(self, binding):
        use, include = HEADERS[binding]
        component = "%MPI_VAL" if binding == "f08" else ""
        shown = handles()
        prints = "\n".join(f"  write (*, '(a,1x,i0)') '{name}', {name}{component if name in shown else ''}"
                           for name in self.names)
        text = f"program constants\n  {use}\n  implicit none\n  {include}\n{prints}\nend program\n"
        return self.compile_and_run([MPIFORT], f"constants_{binding}.f90", text)

    def test_none_is_missing(self):
        # Sentinels are no numbers; what is left is for C.
        of_c = re.compile(r"MPI_(T|F|F08)_|MPI_.*_FN$|MPI_CONVERSION_FN_NULL_C$|MPI_H_ABI$|.*_NULL_C$")
        sentinels = {"MPI_BOTTOM", "MPI_IN_PLACE", "MPI_BUFFER_AUTOMATIC", "MPI_ARGV_NULL", "MPI_ARGVS_NULL",
                     "MPI_ERRCODES_IGNORE", "MPI_STATUS_IGNORE", "MPI_STATUSES_IGNORE", "MPI_UNWEIGHTED",
                     "MPI_WEIGHTS_EMPTY", "MPI_CONVERSION_FN_NULL"}
        missing = {name for name in constants_of_c() - set(self.names) - sentinels if not of_c.match(name)}
        self.assertEqual(missing, set())
        self.assertGreater(len(self.names), 270)

    def test_values(self):
        for binding in HEADERS:
            found = self.values_in_fortran(binding)
            self.assertEqual(len(found), len(self.names))
            for name, value in found.items():
                wanted = OWN[name] if name in OWN else self.in_c[name] - (1 if name.startswith("MPI_MAX_") else 0)
                self.assertEqual(value, wanted, f"{name} of {binding}")


if __name__ == "__main__":
    sys.exit(unittest.main())
