# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Manual pages: every function that the library exports has one, with its prototype and all its arguments."""

import os
import pathlib
import re
import shutil
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["FULMAR_SOURCE_DIR"])
MAN = BUILD / "generated" / "man"


def page(name):
    return (MAN / "man3" / f"{name}.3").read_text()


class Pages(unittest.TestCase):
    def test_every_function_has_a_page(self):
        names = [name for name in (BUILD / "generated" / "exports.txt").read_text().split() if name.startswith("MPI_")]
        self.assertGreater(len(names), 600)
        for name in names:
            text = page(name)
            if text.startswith(".so "):
                self.assertEqual(text.strip(), f".so man3/{name[:-2]}.3")
                text = page(name[:-2])
            self.assertRegex(text, rf"(?m)^[\w* ]+\b{name}\(", name)
            self.assertRegex(text, r"(?m)^MPI_\w+ \\- \S+ \S+", name)

    def test_arguments_and_notes_are_those_of_the_tables(self):
        text = page("MPI_Gatherv")
        self.assertEqual(re.findall(r'(?m)^\.IR (\w+) " \((\w+(?:, \w+)?)\)"$', text),
                         [("sendbuf", "in"), ("sendcount", "in"), ("sendtype", "in"), ("recvbuf", "out"), ("recvcounts", "in"),
                          ("displs", "in"), ("recvtype", "in"), ("root", "in"), ("comm", "in")])
        self.assertIn("significant at the root only", text)
        self.assertIn("Collective", text)
        self.assertIn("Deprecated since MPI 2.0", page("MPI_Attr_put"))
        self.assertIn("starts MPI_Send and returns a request", page("MPI_Isend"))

    def test_every_variable_is_described(self):
        text = (MAN / "man7" / "fulmar.7").read_text()
        options = re.findall(r"(?m)^(FULMAR_\w+) ", (SOURCE / "spec" / "options.table").read_text())
        self.assertEqual(re.findall(r"(?m)^\.B (FULMAR_\w+)$", text), options)

    def test_every_function_of_the_extensions_has_a_page(self):
        names = re.findall(r"(?m)^int (MPIX_\w+)\(", (SOURCE / "include" / "mpi-ext.h").read_text())
        self.assertGreater(len(names), 9)
        for name in names:
            text = page(name)
            self.assertRegex(text, rf"(?m)^int {name}\(", name)
            self.assertGreater(len(text.split(".SH DESCRIPTION")[1].split(".SH")[0].split()), 5, name)

    def test_every_installed_program_has_a_page(self):
        programs = {"mpiexec", "mpirun", "fulmar", "mpicc", "mpicxx", "mpic++", "mpiCC", "mpifort", "mpif77", "mpif90"}
        self.assertEqual({path.stem for path in (MAN / "man1").iterdir()}, programs)
        options = re.findall(r"(?m)^  (-[\w:]+), (-[\w:]+) |^  (-[\w:]+)  ", (SOURCE / "tools" / "wrappers" / "wrapper.in").read_text())
        text = (MAN / "man1" / "mpicc.1").read_text().replace("\\-", "-")
        for option in filter(None, sum(options, ())):
            self.assertIn(option.replace("_", "-"), text)

    def test_mpiexec_is_its_document(self):
        text = (MAN / "man1" / "mpiexec.1").read_text()
        for option in ("\\fB\\-wdir DIR\\fR", "\\fB\\-\\-bind\\-to OBJECT\\fR"):
            self.assertIn(option, text)
        self.assertNotIn("](", text)

    @unittest.skipUnless(shutil.which("groff"), "there is no groff")
    def test_no_page_has_a_mistake_of_form(self):
        pages = [path for path in sorted(MAN.rglob("*.[137]")) if not path.read_text().startswith(".so ")]
        done = subprocess.run(["groff", "-man", "-ww", "-z", "-Kutf8", "-Tutf8", *pages], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
