# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Programs of others that are built from a source folder of the user: nothing of theirs is in this repository."""

import hashlib
import os
import pathlib
import shutil
import sys
import time

import support


def folder(variable, what, mark):
    """The source folder that an environment variable names; ends the recipe as skipped where there is none."""
    name = os.environ.get(variable, "")
    if not name:
        support.skip(f"{variable} is not set; it names the folder with the sources of {what}")
    source = pathlib.Path(name).resolve()
    if not (source / mark).exists():
        sys.exit(f"{variable}={name} holds no {mark}, so it is not the source folder of {what}")
    return source


def fingerprint(source, commands):
    """What a build depends on: the sources, the compiler wrappers, the headers and the commands."""
    key = hashlib.sha256(repr([[str(word) for word in command] for command in commands]).encode())
    headers = sorted((support.BUILD / "include").rglob("*.h"))
    wrappers = [support.BIN / name for name in ("mpicc", "mpicxx", "mpifort")]
    for file in [*(wrapper for wrapper in wrappers if wrapper.exists()), *headers]:
        key.update(file.read_bytes())
    for file in sorted(source.rglob("*")):
        if file.is_file() and ".git" not in file.parts:
            status = file.stat()
            key.update(f"{file}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return key.hexdigest()


def needs(*programs):
    """Ends the recipe as skipped where a program that it calls is not installed."""
    missing = [program for program in programs if not shutil.which(program)]
    if missing:
        support.skip(f"{' and '.join(missing)} not installed")


def needs_fortran():
    """The same for the Fortran library and the compiler that mpifort calls."""
    if not (support.BIN / "mpifort").exists():
        support.skip("this build has no mpifort")
    needs(os.environ.get("FULMAR_FC", "gfortran"))


def build(name, source, commands, timeout=1500, parts=(".",)):
    """Copies the sources to external/NAME/source in the build folder and runs the commands there.

    `parts`: the folders in them that are enough. What was built from the same sources before is kept. Answers the folder with
    sources and programs.
    """
    home = support.BUILD / "external" / name
    copy, stamp = home / "source", home / "built-from"
    key = fingerprint(source, commands)
    if stamp.exists() and stamp.read_text() == key:
        return copy
    stamp.unlink(missing_ok=True)
    shutil.rmtree(copy, ignore_errors=True)
    for part in parts:
        shutil.copytree(source / part, copy / part, symlinks=True, ignore=shutil.ignore_patterns(".git"),
                        dirs_exist_ok=True)
    environment = support.clean_environment(PATH=f"{support.BIN}:{os.environ['PATH']}")
    begin = time.monotonic()
    for command in commands:
        status, output, _ = support.run(command, timeout, environment, copy)
        if status != 0:
            print(output[-6000:])
            sys.exit(f"{name}: {' '.join(map(str, command))} failed with status {status}")
    print(f"{name} built in {time.monotonic() - begin:.0f} s", flush=True)
    stamp.write_text(key)
    return copy


class Table:
    """What ran, how long it took and whether it passed; printed while it runs."""

    def __init__(self):
        self.failed = 0
        self.count = 0

    def add(self, title, problem, seconds, output):
        """One program; an empty problem means that it passed."""
        self.count += 1
        self.failed += bool(problem)
        print(f"  {title:52} {'FAILED' if problem else 'passed'} {seconds:6.1f} s", flush=True)
        if problem:
            print(f"    {problem}\n{output[-4000:]}")

    def close(self):
        """The exit status of the recipe."""
        print(f"{self.failed} of {self.count} runs failed")
        return 1 if self.failed or not self.count else 0
