# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""mpicc and mpicxx hand the compiler the right words; the compiler is imitated by a script."""

import os
import pathlib
import shlex
import shutil
import subprocess
import unittest

import tree

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])


# Prints a complaint and fails, as a compiler that does not find a module.
FAILING = "#!/bin/sh\necho no such module >&2\nexit 3\n"
NOTE = "has no mpif.h and no modules mpi and mpi_f08 yet"


class Wrappers(tree.TreeTest):
    def setUp(self):
        super().setUp()
        self.prefix = self.root / "some prefix"
        (self.prefix / "bin").mkdir(parents=True)
        for name in ("mpicc", "mpicxx", "mpifort"):
            shutil.copy(BUILD / "bin" / name, self.prefix / "bin")
        # Writes each of its words on a line.
        self.compiler = self.write("compiler", '#!/bin/sh\nprintf "%s\\n" "$@"\n')
        self.compiler.chmod(0o755)
        self.include = f"-I{self.prefix}/include"
        self.link = [f"-L{self.prefix}/lib", f"-Wl,-rpath,{self.prefix}/lib", "-lmpi_abi"]

    def run_wrapper(self, *arguments, name="mpicc", **env):
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith(("FULMAR_", "MPICH_", "OMPI_"))}
        wrapper = name if "/" in name else self.prefix / "bin" / name
        return subprocess.run([wrapper, *arguments], capture_output=True, text=True, check=False,
                              cwd=self.root, env=dict(clean, **env))

    def words(self, *arguments):
        """The words that reach the compiler."""
        run = self.run_wrapper(*arguments, FULMAR_CC=str(self.compiler))
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout.splitlines()

    def test_link_adds_everything_behind(self):
        self.assertEqual(self.words("-O2", "a.c"), ["-O2", "a.c", self.include, *self.link])

    def test_no_library_when_not_linking(self):
        for option in ("-c", "-E", "-S", "-M", "-fsyntax-only"):
            self.assertEqual(self.words(option, "a.c"), [option, "a.c", self.include])

    def test_words_with_blanks_and_quotes_stay_whole(self):
        odd = ["-DNAME=\"a b\"", "-I/some where", "it's $HOME.c", "*", "-o", "-odd"]
        self.assertEqual(self.words(*odd)[:len(odd)], odd)

    def test_questions_without_input_stay_plain(self):
        for question in (["--version"], ["-v"], ["-dumpmachine"], ["-print-prog-name=ld"], ["-o", "x"]):
            self.assertEqual(self.words(*question), question)

    def test_value_that_looks_like_an_option_is_no_option(self):
        self.assertEqual(self.words("a.c", "-o", "-c")[-1], "-lmpi_abi")

    def test_objects_libraries_and_standard_input_are_inputs(self):
        for name in ("a.o", "-lm", "-", "@list"):
            self.assertEqual(self.words(name)[-1], "-lmpi_abi")

    def test_show_prints_a_command_for_the_shell(self):
        run = self.run_wrapper("-show", "-c", "my file.c", "-DX='y'")
        self.assertEqual(shlex.split(run.stdout), ["gcc", "-c", "my file.c", "-DX='y'", self.include])
        for form in ("-show", "-showme", "--showme"):
            self.assertEqual(shlex.split(self.run_wrapper(form).stdout), ["gcc", self.include, *self.link])

    def test_showme_parts(self):
        for question, answer in {"compile": [self.include], "link": self.link, "libs": ["mpi_abi"],
                                 "incdirs": [f"{self.prefix}/include"],
                                 "libdirs": [f"{self.prefix}/lib"], "command": ["gcc"]}.items():
            run = self.run_wrapper(f"-showme:{question}")
            self.assertEqual((run.returncode, shlex.split(run.stdout)), (0, answer), question)
        self.assertIn("Fulmar", self.run_wrapper("-showme:version").stdout)
        self.assertEqual(self.run_wrapper("-showme:nonsense").returncode, 2)

    def test_mpich_forms(self):
        self.assertEqual(shlex.split(self.run_wrapper("-compile_info").stdout), ["gcc", self.include])
        self.assertEqual(shlex.split(self.run_wrapper("-link_info").stdout), ["gcc", *self.link])

    def test_compiler_by_variable_and_option(self):
        for variable in ("FULMAR_CC", "MPICH_CC", "OMPI_CC"):
            run = self.run_wrapper("-showme:command", **{variable: "ccache clang"})
            self.assertEqual(run.stdout, "ccache clang\n")
        run = self.run_wrapper("-showme:command", FULMAR_CC="first", OMPI_CC="second")
        self.assertEqual(run.stdout, "first\n")
        self.assertEqual(self.run_wrapper("-cc=icx", "-showme:command").stdout, "icx\n")
        self.assertEqual(self.run_wrapper("-showme:command", name="mpicxx").stdout, "g++\n")
        self.assertEqual(self.run_wrapper("-showme:command", name="mpicxx", OMPI_CXX="x").stdout, "x\n")

    def test_prefix_is_found_through_links(self):
        (self.root / "link").symlink_to("some prefix/bin/mpicc")
        run = self.run_wrapper("-showme:incdirs", name=f"{self.root}/link")
        self.assertEqual(shlex.split(run.stdout), [f"{self.prefix}/include"])

    def test_no_arguments_is_an_error_with_usage(self):
        run = self.run_wrapper()
        self.assertEqual(run.returncode, 1)
        self.assertIn("usage: mpicc", run.stderr)

    def test_exit_status_is_the_compilers(self):
        failing = self.write("failing", "#!/bin/sh\nexit 3\n")
        failing.chmod(0o755)
        self.assertEqual(self.run_wrapper("a.c", FULMAR_CC=str(failing)).returncode, 3)

    def test_prefix_with_a_comma_is_not_cut(self):
        moved = self.root / "a, b"
        self.prefix.rename(moved)
        link = [f"-L{moved}/lib", "-Wl,-rpath", "-Xlinker", f"{moved}/lib", "-lmpi_abi"]
        wrapper = f"{moved}/bin/mpicc"
        run = self.run_wrapper("a.c", name=wrapper, FULMAR_CC=str(self.compiler))
        self.assertEqual(run.stdout.splitlines(), ["a.c", f"-I{moved}/include", *link])
        self.assertEqual(shlex.split(self.run_wrapper("-showme:link", name=wrapper).stdout), link)
        self.assertEqual(shlex.split(self.run_wrapper("-link_info", name=wrapper).stdout), ["gcc", *link])

    def test_fortran_compiler_links_as_the_others(self):
        run = self.run_wrapper("a.o", "-J", "mods", name="mpifort", FULMAR_FC=str(self.compiler))
        self.assertEqual(run.stdout.splitlines(), ["a.o", "-J", "mods", self.include, *self.link])
        self.assertEqual(self.run_wrapper("-showme:command", name="mpifort").stdout, "gfortran\n")
        for variable in ("MPICH_FC", "OMPI_FC", "MPICH_F90", "OMPI_F77"):
            run = self.run_wrapper("-showme:command", name="mpifort", **{variable: "flang"})
            self.assertEqual(run.stdout, "flang\n", variable)
        self.assertEqual(self.run_wrapper("-fc=ifx", "-showme:command", name="mpifort").stdout, "ifx\n")

    def fortran_errors(self, name, text, compiler=FAILING):
        """Exit status and lines of errors of compiling this source."""
        self.write(name, text)
        self.write("fortran", compiler).chmod(0o755)
        run = self.run_wrapper("-c", name, name="mpifort", FULMAR_FC=str(self.root / "fortran"))
        return run.returncode, run.stderr.splitlines()

    def test_fortran_that_needs_mpi_is_told_what_is_missing(self):
        for name, text in (("a.f90", "program p\n  use mpi\nend\n"),
                           ("a.F90", "USE, INTRINSIC :: ISO_C_BINDING\nUSE :: MPI_F08, ONLY: MPI_Send\n"),
                           ("a.f", "      program p\n      include 'mpif.h'\n      end\n"),
                           ("a.F", '#include "mpif.h"\n')):
            status, errors = self.fortran_errors(name, text)
            self.assertEqual((status, len(errors)), (3, 2), (name, errors))
            self.assertIn(NOTE, errors[1])

    def test_other_fortran_is_left_alone(self):
        for text in ("use mpi_tools\n", "! use mpi\n", "call use_mpi()\n"):
            self.assertEqual(self.fortran_errors("a.f90", text), (3, ["no such module"]), text)
        # A module of that name that the compiler finds is as good as ours.
        self.assertEqual(self.fortran_errors("a.f90", "use mpi\n", "#!/bin/sh\n"), (0, []))


if __name__ == "__main__":
    unittest.main()
