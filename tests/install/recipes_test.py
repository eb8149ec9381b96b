# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Spack's recipe, EasyBuild's description and the module file: they can be read, and what they name exists."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import types
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["FULMAR_SOURCE_DIR"])
VERSION = re.search(r"project\(Fulmar VERSION (\S+)", (SOURCE / "CMakeLists.txt").read_text())[1]

# What Environment Modules give a module file, for tclsh: each writes what it was told.
COMMANDS = """\
foreach name {module-whatis conflict prepend-path setenv} {
  proc $name args "puts \\"$name \\$args\\""
}
set ModulesCurrentModulefile %s
source %s
"""


def options():
    """Names of the options that a build has."""
    text = "".join(path.read_text() for path in [SOURCE / "CMakeLists.txt", *SOURCE.glob("cmake/*.cmake"), *SOURCE.glob("packaging/*.cmake")])
    return set(re.findall(r"\b(?:option|set)\((FULMAR_\w+)", text))


class Directives:
    """Stands for Spack's module: remembers what a recipe declares."""

    def __init__(self):
        self.calls = []

    def module(self):
        module = types.ModuleType("spack.package")
        for name in ("license", "version", "variant", "provides", "depends_on", "conflicts", "generator"):
            setattr(module, name, lambda *words, _name=name, **named: self.calls.append((_name, words, named)))
        module.CMakePackage = type("CMakePackage", (), {
            "define": staticmethod(lambda name, value: f"-D{name}={value}"),
            "define_from_variant": staticmethod(lambda name, variant: f"-D{name}={variant}")})
        return module

    def words(self, name):
        return [words[0] for called, words, _ in self.calls if called == name]


class Recipes(unittest.TestCase):
    @unittest.skipUnless((BUILD / "build.ninja").exists(), "no build by ninja")
    def test_make_install_builds_what_it_installs(self):
        rules = (BUILD / "build.ninja").read_text()
        built = re.search(r"^build product: phony (.*)$", rules, re.M)[1].split()
        linked = set(re.findall(r"^build (lib/\S*|bin/\S*): CXX_\w+_LINKER__(?!.*archive)", rules, re.M))
        installed = set(re.findall(rf'"{re.escape(str(BUILD))}/((?:lib|bin)/[^"]*)"', (BUILD / "cmake_install.cmake").read_text()))
        names = {path.removesuffix(".1") for path in built}  # a library stands under its name for linkers
        missing = {path for path in installed & linked if path not in built and path.removesuffix(".1") not in names}
        self.assertGreater(len(installed & linked), 5)
        self.assertEqual(missing, set())

    def test_spack(self):
        directives = Directives()
        sys.modules["spack"], sys.modules["spack.package"] = types.ModuleType("spack"), directives.module()
        self.addCleanup(lambda: [sys.modules.pop(name) for name in ("spack.package", "spack")])
        path = SOURCE / "packaging/spack/package.py"
        scope = {"__name__": "package"}
        exec(compile(path.read_text(), path, "exec"), scope)
        recipe = scope["Fulmar"]
        self.assertEqual(directives.words("version"), [VERSION])
        self.assertIn(f"fulmar-{VERSION}.tar.gz", recipe.url)
        self.assertEqual(directives.words("provides"), ["mpi@:5.0"])
        arguments = recipe().cmake_args()
        named = {argument[2:].partition("=")[0] for argument in arguments}
        self.assertLessEqual(named, options())
        self.assertIn("-DFULMAR_FORTRAN=fortran", arguments)
        for condition in {named["when"] for _, _, named in directives.calls if "when" in named}:
            self.assertIn(condition.lstrip("+~"), directives.words("variant"))

    def test_easybuild(self):
        (path,) = (SOURCE / "packaging/easybuild").glob("*.eb")
        scope = {}
        exec(compile(path.read_text(), path, "exec"), scope)
        self.assertEqual(scope["version"], VERSION)
        self.assertEqual(path.name, "{name}-{version}-{0[name]}-{0[version]}.eb".format(scope["toolchain"], **scope))
        self.assertLessEqual(set(re.findall(r"-D(\w+)", scope["configopts"])), options())
        for file in scope["sanity_check_paths"]["files"]:
            place = BUILD / ("generated" if file.startswith("include") else "") / file
            wrapper = SOURCE / "tools/wrappers" / pathlib.Path(file).name
            built = place.exists() or wrapper.exists() or file.startswith("bin/mpi")
            self.assertTrue(built or "mpifort" in file, file)

    @unittest.skipUnless(shutil.which("tclsh"), "no tclsh")
    def test_module_file(self):
        text = (BUILD / "modulefiles/fulmar").read_text()
        self.assertTrue(text.startswith("#%Module"))
        place = f"/opt/fulmar/share/modulefiles/fulmar/{VERSION}"
        done = subprocess.run(["tclsh"], input=COMMANDS % (place, BUILD / "modulefiles/fulmar"), capture_output=True, text=True, check=True)
        self.assertEqual(done.stderr, "")
        lines = done.stdout.splitlines()
        self.assertIn("prepend-path PATH /opt/fulmar/bin", lines)
        self.assertIn("prepend-path MANPATH /opt/fulmar/share/man", lines)
        self.assertIn("setenv MPICC /opt/fulmar/bin/mpicc", lines)
        self.assertTrue(any(line.startswith("module-whatis") and VERSION in line for line in lines))


if __name__ == "__main__":
    unittest.main()
