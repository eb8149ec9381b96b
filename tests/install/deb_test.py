# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The Debian packages: unpacked below another root they work, and their scripts offer and withdraw alternatives."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])
SOURCE = pathlib.Path(os.environ["FULMAR_SOURCE_DIR"])
NAMES = ("mpirun", "mpiexec", "mpicc", "mpicxx", "mpic++", "mpiCC", "mpif77", "mpif90", "mpifort")

# What the scripts call, for the other root.
UPDATE_ALTERNATIVES = """\
#!/bin/sh
exec /usr/bin/update-alternatives --quiet --root "$FAKE_ROOT" --log "$FAKE_ROOT/log" "$@"
"""


def run(*command, **options):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=120, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command} exited with {done.returncode}:\n{done.stdout}\n{done.stderr}")
    return done.stdout


class Packages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="fulmar-deb-")
        cls.addClassCleanup(folder.cleanup)
        cls.work = pathlib.Path(folder.name).resolve()
        cls.root = cls.work / "root"
        run("cmake", "--install", BUILD, "--prefix", cls.work / "tree", "--strip")
        run(SOURCE / "packaging/make_deb", cls.work / "tree", cls.work, "1.2.3")
        cls.packages = sorted(cls.work.glob("*.deb"))
        for package in cls.packages:
            run("dpkg-deb", "-x", package, cls.root)

    def script(self, package, name, argument):
        """Runs a script of a package for the other root."""
        control = self.work / "control"
        shutil.rmtree(control, ignore_errors=True)
        run("dpkg-deb", "-e", next(self.work.glob(f"{package}_*.deb")), control)
        fake = self.work / "fake"
        fake.mkdir(exist_ok=True)
        (fake / "update-alternatives").write_text(UPDATE_ALTERNATIVES)
        (fake / "update-alternatives").chmod(0o755)
        for path in ("etc/alternatives", "var/lib/dpkg/alternatives"):
            (self.root / path).mkdir(parents=True, exist_ok=True)
        run(control / name, argument, env=os.environ | {"PATH": f"{fake}:{os.environ['PATH']}", "FAKE_ROOT": str(self.root)})

    @staticmethod
    def triplet():
        return run("cc", "-dumpmachine").strip()

    def test_there_are_three_packages_with_the_version(self):
        self.assertEqual([package.name.split("_")[:2] for package in self.packages],
                         [["fulmar-doc", "1.2.3"], ["fulmar", "1.2.3"], ["libfulmar-dev", "1.2.3"]])

    def test_a_program_compiles_and_runs(self):
        bin_folder = self.root / "usr/bin"
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("LD_", "MPI", "FULMAR_"))}
        run(bin_folder / "mpicc.fulmar", SOURCE / "examples/hello.c", "-o", self.work / "hello", env=kept)
        text = run(bin_folder / "mpiexec.fulmar", "-n", "2", self.work / "hello", env=kept, stdin=subprocess.DEVNULL)
        self.assertIn("hello from rank 1 of 2", text)
        self.assertIn("Fulmar", run(bin_folder / "fulmar", "--version", env=kept))

    def test_manual_pages_and_completion_are_where_they_are_looked_for(self):
        share = self.root / "usr/share"
        for name in ("man/man1/mpiexec.fulmar.1", "man/man3/MPI_Send.3fulmar", "man/man7/fulmar.7", "zsh/vendor-completions/_fulmar",
                     "bash-completion/completions/fulmar", "bash-completion/completions/mpicc.fulmar"):
            self.assertGreater((share / name).stat().st_size, 100, name)

    def test_every_name_is_an_alternative_while_the_packages_are_installed(self):
        for package in ("fulmar", "libfulmar-dev"):
            self.script(package, "postinst", "configure")
        for name in NAMES:
            chosen = os.readlink(self.root / "usr/bin" / name)
            self.assertTrue(chosen.startswith("/etc/alternatives/mpi"), chosen)
            target = os.readlink(self.root / chosen.lstrip("/"))
            self.assertTrue((self.root / target.lstrip("/")).exists(), target)
            completion = self.root / f"usr/share/bash-completion/completions/{name}"
            self.assertTrue(os.readlink(completion).startswith("/etc/alternatives/"), completion)
        header = os.readlink(self.root / f"etc/alternatives/mpi-{self.triplet()}")
        self.assertTrue((self.root / header.lstrip("/") / "mpi.h").exists())
        for package in ("fulmar", "libfulmar-dev"):
            self.script(package, "prerm", "remove")
        self.assertEqual([name for name in NAMES if (self.root / "usr/bin" / name).is_symlink()], [])


if __name__ == "__main__":
    if not shutil.which("dpkg-deb"):
        print("skipped: this system has no dpkg-deb")
        sys.exit(77)
    unittest.main()
