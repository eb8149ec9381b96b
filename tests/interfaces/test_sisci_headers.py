# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The headers of SISCI against interfaces/sisci/sisci.table, and programs of its time against the headers."""

import os
import pathlib
import subprocess
import tempfile
import unittest

FOLDER = pathlib.Path(os.environ["SISCI_FOLDER"])
CC = os.environ.get("CC", "cc")
CXX = os.environ.get("CXX", "c++")

# What programs of 2002 and of today do with the names: as values, in case labels, in initialisers, by the
# preprocessor, with sizes that are unsigned int.
PROGRAM = """
#define _REENTRANT
#include <sisci_types.h>
#include <sisci_api.h>
#include <sisci_error.h>
static const unsigned int flags = SCI_FLAG_FIXED_INTNO | SCI_FLAG_USE_CALLBACK;
#ifndef SCI_FLAG_DMA_WAIT
#error "a flag is no macro"
#endif
#ifdef SCIOpen
#error "names are mangled"
#endif
static sci_callback_action_t callback(void* arg, sci_local_interrupt_t interrupt, sci_error_t status) {
  (void)arg; (void)interrupt; (void)status;
  return SCI_CALLBACK_CONTINUE;
}
int kind(unsigned int flag) {
  switch (flag) {
    case SCI_FLAG_BLOCK_READ: return 1;
    case SCI_INFINITE_TIMEOUT: return 2;
    default: return 3;
  }
}
unsigned int use(sci_desc_t sd, sci_remote_segment_t segment, sci_map_t* map, unsigned int offset, unsigned int size) {
  sci_error_t error;
  sci_local_interrupt_t interrupt;
  sci_query_adapter_t query;
  struct sci_query_adapter same;
  unsigned int number = 0;
  volatile void* address = SCIMapRemoteSegment(segment, map, offset, size, 0, 0, &error);
  SCICreateInterrupt(sd, &interrupt, 0, &number, callback, 0, flags, &error);
  query.subcommand = same.subcommand = SCI_Q_ADAPTER_NODEID;
  query.localAdapterNo = 0;
  query.data = &number;
  SCIQuery(SCI_Q_ADAPTER, &query, 0, &error);
  return address == 0 ? SCIGetRemoteSegmentSize(segment) : number;
}
"""


def rows():
    for line in (FOLDER / "sisci.table").read_text().splitlines():
        if line and not line.startswith("#"):
            name, value, source = line.split()
            yield name, int(value, 0), source


class Headers(unittest.TestCase):
    def compile(self, compiler, standard, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(
                [compiler, standard, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", *options, "-I", FOLDER, "-x",
                 "c++" if compiler == CXX else "c", "-"],
                input=text, capture_output=True, text=True, cwd=folder)
        return result.returncode, result.stderr

    def test_every_row_of_the_table_is_in_the_headers(self):
        checks = ["#include <sisci_api.h>"]
        for name, value, _ in rows():
            checks.append(f'_Static_assert((unsigned int){name} == {value}U, "{name}");')
        code, errors = self.compile(CC, "-std=c11", "\n".join(checks) + "\n")
        self.assertEqual(code, 0, errors)

    def test_every_constant_of_the_headers_is_in_the_table(self):
        known = {name for name, _, _ in rows()}
        result = subprocess.run([CC, "-dM", "-E", "-I", FOLDER, FOLDER / "sisci_api.h"], capture_output=True,
                                text=True, check=True)
        macros = {line.split()[1] for line in result.stdout.splitlines() if line.startswith("#define SCI_")}
        own = {"SCI_ERR(u)", "SCI_ERR_REMOTE_MASK", "SCI_DATA_INTERRUPT_BYTES"}
        self.assertEqual(macros - known - own, set())

    def test_a_wrong_row_is_found(self):
        code, _ = self.compile(CC, "-std=c11", '#include <sisci_api.h>\n_Static_assert(SCI_ERR_BUSY == 1, "");\n')
        self.assertNotEqual(code, 0)

    def test_programs_of_all_times_compile(self):
        for compiler, standards in ((CC, ("-std=c99", "-std=c11")), (CXX, ("-std=c++11", "-std=c++20"))):
            for standard in standards:
                with self.subTest(standard=standard):
                    code, errors = self.compile(compiler, standard, PROGRAM)
                    self.assertEqual(code, 0, errors)


if __name__ == "__main__":
    unittest.main()
