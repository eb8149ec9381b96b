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


class Wrappers(tree.TreeTest):
    def setUp(self):
        super().setUp()
        self.prefix = self.root / "some prefix"
        (self.prefix / "bin").mkdir(parents=True)
        for name in ("mpicc", "mpicxx"):
            shutil.copy(BUILD / "bin" / name, self.prefix / "bin")
        # Writes each of its words on a line.
        self.compiler = self.write("compiler", '#!/bin/sh\nprintf "%s\\n" "$@"\n')
        self.compiler.chmod(0o755)
        self.include = f"-I{self.prefix}/include"
        self.link = [f"-L{self.prefix}/lib", f"-Wl,-rpath,{self.prefix}/lib", "-lmpi_abi"]

    def run_wrapper(self, *arguments, name="mpicc", **env):
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith(("FULMAR_C", "MPICH_C", "OMPI_C"))}
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


if __name__ == "__main__":
    unittest.main()
