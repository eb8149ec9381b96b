# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The interfaces where they cannot begin: each returns its error, and a line on stderr says why."""

import os
import pathlib
import subprocess
import tempfile
import unittest

MPIEXEC = os.environ["MPIEXEC"]
PROGRAM = os.environ["INITIALISE_PROGRAM"]
CC = os.environ.get("CC", "cc")
# What opens ports, as a library of another build has it.
OTHER_BUILD = """
void* fulmar_interfaces_open(unsigned int version, int id, void* client, int threads, const char** why) {
  (void)version; (void)id; (void)client; (void)threads;
  *why = "libmpi_abi is of another version";
  return 0;
}
"""
GOOD = {"sisci": "0", "vipl": "0", "rwapi": "0"}
RESOURCE = "3"  # VIP_ERROR_RESOURCE
RUNTIME = "-10"  # RWAPI_ERR_RUNTIME
NO_LINK_ACCESS, INCONSISTENT, SYSTEM = "40000a05", "4000091d", "40000919"  # SCI_ERR_...


class Beginnings(unittest.TestCase):
    def begin(self, ranks=0, **changes):
        """(what each said, stderr); without ranks the program is started alone."""
        command = [MPIEXEC, "-n", str(ranks), PROGRAM] if ranks else [PROGRAM]
        result = subprocess.run(command, env={**os.environ, **changes}, capture_output=True, text=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        return dict(line.split() for line in result.stdout.splitlines()), result.stderr

    def test_with_nothing_wrong(self):
        said, errors = self.begin()
        self.assertEqual((said, errors), (GOOD, ""))

    def test_a_job_that_cannot_be_joined(self):
        said, errors = self.begin(2, FULMAR_FABRIC="pigeons")
        self.assertEqual(said, {"sisci": NO_LINK_ACCESS, "vipl": RESOURCE, "rwapi": RUNTIME})
        for line in ("SCIInitialize", "rwapi_init", "pigeons"):
            self.assertIn(line, errors)

    def test_a_node_file_that_is_wrong(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "nodes"
            for text in ("0 4\n0 8\n", "1 4\n", "0 70000\n", "nonsense\n"):
                with self.subTest(text=text):
                    file.write_text(text)
                    said, errors = self.begin(FULMAR_SISCI_NODES=str(file))
                    self.assertEqual(said, {"sisci": SYSTEM, "vipl": RESOURCE, "rwapi": "0"})
                    self.assertIn(str(file), errors)
            said, errors = self.begin(FULMAR_SISCI_NODES=str(pathlib.Path(folder) / "missing"))
            self.assertEqual(said["sisci"], SYSTEM)
            self.assertIn("No such file", errors)

    def test_a_word_that_is_none(self):
        said, errors = self.begin(FULMAR_VIPL_REGISTRATION="pinned")
        self.assertEqual(said, {**GOOD, "vipl": RESOURCE})
        self.assertIn("pinned", errors)

    def test_libraries_of_two_builds(self):
        if "LD_PRELOAD" in os.environ:
            self.skipTest("something is preloaded already")
        with tempfile.TemporaryDirectory() as folder:
            library = pathlib.Path(folder) / "other.so"
            subprocess.run([CC, "-shared", "-fPIC", "-x", "c", "-", "-o", library], input=OTHER_BUILD, text=True, check=True)
            said, errors = self.begin(LD_PRELOAD=str(library))
        self.assertEqual(said, {"sisci": INCONSISTENT, "vipl": RESOURCE, "rwapi": RUNTIME})
        self.assertIn("another version", errors)


if __name__ == "__main__":
    unittest.main()
