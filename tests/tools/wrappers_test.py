# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""mpicc, mpicxx and mpifort hand the compiler the right words; the compiler is imitated by a script."""

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

    def fortran(self, *arguments, **env):
        """mpifort with the imitated compiler, and modules in a cache of the test."""
        run = self.run_wrapper(*arguments, name="mpifort", FULMAR_FC=str(self.compiler), **self.cache(), **env)
        return run.stdout.splitlines()

    def cache(self):
        return {"FULMAR_MODULE_CACHE": str(self.root / "cache")}

    def make_module_sources(self):
        folder = self.prefix / "share/fulmar/fortran"
        folder.mkdir(parents=True)
        for module in ("mpi_abi_constants", "mpi_f08_types", "mpi_f08_callbacks", "mpi_f08", "mpi"):
            (folder / f"{module}.f90").write_text(module)

    def test_fortran_links_its_library(self):
        self.assertEqual(self.fortran("a.o", "-J", "mods"), ["a.o", "-J", "mods", self.include, *self.fortran_link()])
        self.assertFalse((self.root / "cache").exists(), "linking needs no modules")

    def fortran_link(self):
        libraries = self.run_wrapper("-showme:libs", name="mpifort").stdout.split()
        self.assertEqual(libraries[-1], "mpi_abi")
        return [*self.link[:2], *(f"-l{name}" for name in libraries)]

    def test_fortran_compiler_is_chosen_as_the_others(self):
        self.assertEqual(self.run_wrapper("-showme:command", name="mpifort").stdout, "gfortran\n")
        for variable in ("MPICH_FC", "OMPI_FC", "MPICH_F90", "OMPI_F77"):
            run = self.run_wrapper("-showme:command", name="mpifort", **{variable: "flang"})
            self.assertEqual(run.stdout, "flang\n", variable)
        self.assertEqual(self.run_wrapper("-fc=ifx", "-showme:command", name="mpifort").stdout, "ifx\n")

    def test_modules_are_made_once_for_a_compiler(self):
        self.make_module_sources()
        first = self.fortran("-c", "a.f90")
        self.assertEqual(first[:3], ["-c", "a.f90", self.include])
        folder = pathlib.Path(first[3].removeprefix("-I"))
        self.assertEqual(folder.parent, self.root / "cache")
        (folder / "mark").write_text("")
        self.assertEqual(self.fortran("-c", "a.f90"), first)
        self.assertTrue((folder / "mark").exists(), "the folder is used again")
        # Another version of the compiler has its own.
        self.compiler.write_text('#!/bin/sh\n[ "$1" = --version ] && echo 2\nprintf "%s\\n" "$@"\n')
        self.assertNotEqual(self.fortran("-c", "a.f90")[3], first[3])
        # And so have other sources.
        (self.prefix / "share/fulmar/fortran/mpi.f90").write_text("changed")
        self.assertEqual(len(list((self.root / "cache").iterdir())), 2)
        self.fortran("-c", "a.f90")
        self.assertEqual(len(list((self.root / "cache").iterdir())), 3)

    def test_flags_of_fortran_name_the_modules(self):
        self.make_module_sources()
        folder = self.fortran("-c", "a.f90")[3]
        for question in ("-showme:compile", "-compile_info"):
            self.assertIn(folder, shlex.split("\n".join(self.fortran(question))))
        self.assertIn(folder.removeprefix("-I"), shlex.split(self.fortran("-showme:incdirs")[0]))
        self.assertIn(folder, shlex.split("\n".join(self.fortran("-show", "a.f90"))))

    def test_modules_that_do_not_compile_are_reported(self):
        self.make_module_sources()
        self.compiler.write_text(FAILING)
        run = self.run_wrapper("-c", "a.f90", name="mpifort", FULMAR_FC=str(self.compiler), **self.cache())
        self.assertEqual(run.returncode, 3)
        self.assertIn("cannot compile the modules mpi and mpi_f08:\n  no such module\n", run.stderr)
        self.assertEqual(list((self.root / "cache").iterdir()), [])

    def test_fortran_without_sources_of_modules_says_so(self):
        run = self.run_wrapper("-c", "a.f90", name="mpifort", FULMAR_FC=str(self.compiler), **self.cache())
        self.assertEqual(run.stdout.splitlines(), ["-c", "a.f90", self.include])
        self.assertIn("this Fulmar was built without Fortran", run.stderr)

    def test_default_integers_of_8_bytes_are_refused(self):
        for option in ("-fdefault-integer-8", "-i8"):
            run = self.run_wrapper(option, "a.f90", name="mpifort", FULMAR_FC=str(self.compiler))
            self.assertEqual((run.returncode, run.stdout), (2, ""))
            self.assertIn(f"{option}: the ABI of MPI has INTEGERs of 4 bytes", run.stderr)


if __name__ == "__main__":
    unittest.main()
