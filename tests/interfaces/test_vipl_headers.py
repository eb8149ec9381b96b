# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The header of VIPL against interfaces/vipl/vipl.table, programs of its time against the header, and the
library: it exports the functions and nothing else, and can be loaded as vipl.so."""

import ctypes
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

FOLDER = pathlib.Path(os.environ["VIPL_FOLDER"])
LIBRARY = pathlib.Path(os.environ["VIPL_LIBRARY"])
CC = os.environ.get("CC", "cc")
CXX = os.environ.get("CXX", "c++")

# Both spellings of descriptors, as programs of the time wrote them.
PROGRAM = """
#include <vipl.h>
struct buffer { VIP_DESCRIPTOR desc; char bytes[100]; };
static void handler(VIP_PVOID context, VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_DESCRIPTOR* descriptor) {
  (void)context; (void)nic; (void)vi; (void)descriptor;
}
static void on_error(VIP_PVOID context, VIP_ERROR_DESCRIPTOR* error) { (void)context; (void)error; }
VIP_RETURN use(VIP_NIC_HANDLE nic, VIP_VI_HANDLE vi, VIP_MEM_HANDLE memory, struct buffer* buffer) {
  VIP_DESCRIPTOR* d = &buffer->desc;
  VIP_DESCRIPTOR* done;
  VIP_NIC_ATTRIBUTES attributes;
  d->CS.Next.Address = 0;
  d->CS.SegCount = 2;
  d->CS.Control = VIP_CONTROL_OP_RDMAWRITE | VIP_CONTROL_IMMEDIATE;
  d->CS.Length = 100;
  d->CS.Status = 0;
  d->DS[0].Remote.Data.Address = buffer->bytes;
  d->DS[0].Remote.Handle = memory;
  d->DS[0].Remote.Reserved = 0;
  d->DS[1].Local.Data.Address = buffer->bytes;
  d->DS[1].Local.Handle = memory;
  d->DS[1].Local.Length = 100;
  d->Control.SegCount = 1;
  d->Data[0].Data.Address = buffer->bytes;
  d->Data[0].Handle = memory;
  d->Data[0].Length = 100;
  if (VipQueryNic(nic, &attributes) != VIP_SUCCESS) return VIP_ERROR_RESOURCE;
  VipErrorCallback(nic, 0, on_error);
  VipRecvNotify(vi, 0, handler);
  switch (VipSendWait(vi, VIP_INFINITE, &done)) {
    case VIP_SUCCESS: return VIP_SUCCESS;
    case VIP_TIMEOUT: return VIP_TIMEOUT;
    default: return VipPostSend(vi, d, d->DS[0].Local.Handle);
  }
}
"""


def rows():
    for line in (FOLDER / "vipl.table").read_text().splitlines():
        if line and not line.startswith("#"):
            name, value, source = line.split()
            yield name, int(value, 0), source


def constants():
    return [(name, value) for name, value, _ in rows() if "(" not in name and "." not in name]


class Headers(unittest.TestCase):
    def compile(self, compiler, standard, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            result = subprocess.run(
                [compiler, standard, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", *options, "-I", FOLDER,
                 "-x", "c++" if compiler == CXX else "c", "-"],
                input=text, capture_output=True, text=True, cwd=folder)
        return result.returncode, result.stderr

    def test_every_row_of_the_table_is_in_the_header(self):
        checks = ["#include <stddef.h>", "#include <vipl.h>"]
        for name, value, _ in rows():
            if name.endswith("()"):
                continue
            if "." in name:
                structure, member = name.split(".", 1)
                checks.append(f'_Static_assert(offsetof({structure}, {member}) == {value}, "{name}");')
            else:
                checks.append(f'_Static_assert((unsigned int){name} == {value}U, "{name}");')
        checks.append('_Static_assert(sizeof(VIP_DESCRIPTOR) == VIP_DESCRIPTOR_ALIGNMENT, "descriptor");')
        checks.append('_Static_assert(VIP_INFINITE == (VIP_ULONG)-1, "VIP_INFINITE");')
        code, errors = self.compile(CC, "-std=c11", "\n".join(checks) + "\n")
        self.assertEqual(code, 0, errors)

    def test_every_constant_of_the_header_is_in_the_table(self):
        known = {name for name, _ in constants()} | {"VIP_INFINITE"}
        text = (FOLDER / "vipl.h").read_text()
        macros = set(re.findall(r"^#define (VIP_\w+) ", text, re.MULTILINE))
        enumerators = set(re.findall(r"^ +(VIP_[A-Z_]+)(?:,|$)", re.sub(r" */\*.*?\*/", "", text), re.MULTILINE))
        self.assertGreater(len(enumerators), 30)
        self.assertEqual((macros | enumerators) - known, set())

    def test_functions_have_their_parameters(self):
        text = re.sub(r"/\*.*?\*/", "", (FOLDER / "vipl.h").read_text(), flags=re.DOTALL)
        declared = {name: parameters.count(",") + 1
                    for name, parameters in re.findall(r"VIP_RETURN (Vip\w+)\(([^)]*)\);", text)}
        self.assertEqual(declared, {name[:-2]: value for name, value, _ in rows() if name.endswith("()")})
        specified = [name for name, _, source in rows() if name.endswith("()") and source == "V"]
        self.assertEqual(len(specified), 41)

    def test_a_wrong_row_is_found(self):
        code, _ = self.compile(CC, "-std=c11", '#include <vipl.h>\n_Static_assert(VIP_TIMEOUT == 5, "");\n')
        self.assertNotEqual(code, 0)

    def test_programs_of_the_time_compile(self):
        for compiler, standards in ((CC, ("-std=c99", "-std=c11")), (CXX, ("-std=c++11", "-std=c++20"))):
            for standard in standards:
                with self.subTest(standard=standard):
                    code, errors = self.compile(compiler, standard, PROGRAM)
                    self.assertEqual(code, 0, errors)

    def test_the_library_exports_its_functions_alone(self):
        out = subprocess.run(["nm", "-D", "--defined-only", LIBRARY], capture_output=True, text=True, check=True).stdout
        exported = {line.split()[-1].split("@")[0] for line in out.splitlines() if line.split()[-2] in "TWVuDB"}
        expected = {name[:-2] for name, _, _ in rows() if name.endswith("()")}
        # Templates of the standard library have their own visibility.
        self.assertEqual({name for name in exported if not name.startswith("_Z") or "fulmar" in name}, expected)

    def test_it_can_be_loaded_as_vipl_so(self):
        library = ctypes.CDLL(LIBRARY.parent / "vipl.so")
        library.VipCloseNic.argtypes = [ctypes.c_void_p]
        self.assertEqual(library.VipCloseNic(0x1234), 2, "VIP_INVALID_PARAMETER")


if __name__ == "__main__":
    unittest.main()
