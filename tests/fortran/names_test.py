# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""libmpifort_abi exports every procedure under the names that compilers give it, and needs C's names only."""

import os
import pathlib
import re
import subprocess
import sys
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["FULMAR_SOURCE_DIR"])
LIBRARY = BUILD / "lib" / "libmpifort_abi.so.1"
IN_C_ONLY = re.compile(r"MPI_T_|MPI_\w+_(toint|fromint)$")
OLD = {"MPI_Attr_delete", "MPI_Attr_get", "MPI_Attr_put", "MPI_Keyval_create", "MPI_Keyval_free"}
CHOICE = re.compile(r"\b(?:const )?void\* \w+")


def exported(library):
    run = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True)
    return {line.split()[-1]: line.split()[-2] for line in run.stdout.splitlines()}


def functions_of_c():
    """Names of the functions of mpi.h, without the large forms."""
    names = (BUILD / "generated" / "exports.txt").read_text().split()
    return sorted(name for name in names if name.startswith("MPI_") and not name.endswith("_c"))


class Names(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.names = exported(LIBRARY)

    def test_every_function_has_all_manglings(self):
        functions = [name for name in functions_of_c() if not IN_C_ONLY.match(name)]
        self.assertGreater(len(functions), 400)
        for function in functions:
            for prefix in ("", "P"):
                lower = (prefix + function).lower()
                for name in (lower, lower + "_", lower + "__", lower.upper()):
                    self.assertIn(name, self.names)

    def test_what_mpi_3_removed_can_be_called_by_old_programs(self):
        header = (SOURCE / "include" / "fulmar" / "mpi_removed.h").read_text()
        functions = set(re.findall(r"^#ifndef (MPI_\w*[a-z]\w*)\n.*\nFULMAR_REMOVED_INLINE_ int", header, re.MULTILINE))
        self.assertEqual(len(functions), 10)
        for function in functions:
            for name in (function.lower() + "_", function.upper(), "p" + function.lower() + "__"):
                self.assertIn(name, self.names)

    def test_every_function_is_in_mpi_f08(self):
        module = (BUILD / "generated" / "fortran" / "modules" / "mpi_f08.f90").read_text()
        generics = set(re.findall(r"^  interface (MPI_\w+)$", module, re.MULTILINE))
        wanted = {name for name in functions_of_c() if not IN_C_ONLY.match(name)} - OLD
        self.assertEqual(wanted - generics, set())

    def test_what_the_modules_bind_exists(self):
        for module in ("mpi", "mpi_f08", "mpi_abi_constants"):
            text = (BUILD / "generated" / "fortran" / "modules" / f"{module}.f90").read_text()
            bound = re.findall(r"bind\(c,\s+(?:&\s+)?name='(\w+)'\)", text)
            self.assertGreater(len(bound), 0)
            for name in bound:
                self.assertIn(name, self.names)
            for name in re.findall(r"^    (?:pure )?(?:subroutine|function) (\w+)", text, re.MULTILINE):
                self.assertTrue(name.lower() + "_" in self.names or name in self.names, name)

    def test_mpi_names_can_be_overridden_and_pmpi_names_are_the_bodies(self):
        self.assertEqual((self.names["mpi_send_"], self.names["pmpi_send_"]), ("W", "T"))
        self.assertEqual((self.names["MPI_Send_f08ts"], self.names["PMPI_Send_f08ts"]), ("W", "T"))

    def test_it_needs_only_the_standard_abi(self):
        run = subprocess.run(["nm", "-D", "--undefined-only", LIBRARY], capture_output=True, text=True, check=True)
        needed = {line.split()[-1].split("@")[0] for line in run.stdout.splitlines()}
        of_mpi = {name for name in needed if name.lower().startswith(("mpi", "pmpi"))}
        self.assertGreater(len(of_mpi), 400)
        self.assertEqual([name for name in of_mpi if not name.startswith("PMPI_")], [])
        provided = exported(BUILD / "lib" / "libmpi_abi.so.1")
        self.assertEqual([name for name in of_mpi if name not in provided], [])
        run = subprocess.run(["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True)
        libraries = re.findall(r"NEEDED.*\[(.*)\]", run.stdout)
        self.assertIn("libmpi_abi.so.1", libraries)
        self.assertEqual([name for name in libraries if "fortran" in name or "stdc++" in name], [])


if __name__ == "__main__":
    sys.exit(unittest.main())
