# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What the recipes for foreign programs share: folders, running commands, skipping."""

import os
import pathlib
import shlex
import subprocess
import sys
import time

BUILD = pathlib.Path(os.environ.get("FULMAR_BUILD_DIR", "build/release")).resolve()
BIN = BUILD / "bin"
LIBRARY = BUILD / "lib" / "libmpi_abi.so.1"
SKIPPED = 77
# What mpiexec says of a job that stands still, and its exit status then.
STANDSTILL = "mpiexec: deadlock:"
STANDSTILL_STATUS = 125


def skip(reason):
    """Ends the recipe as one that could not be tried."""
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def clean_environment(**changes):
    """The caller's environment without what would change how Python or MPI behaves."""
    names = ("PYTHON", "LD_LIBRARY_PATH", "LD_PRELOAD", "MPI4PY_", "FULMAR_", "MPICC", "MPICXX")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(names)}
    return kept | {name: str(value) for name, value in changes.items()}


def run(command, timeout, env=None, cwd=None):
    """Runs a command to its end: (exit status, output of both streams, seconds). 124 says that it took too long."""
    words = [str(word) for word in command]
    begin = time.monotonic()
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              timeout=timeout, env=env or clean_environment(), cwd=cwd, check=False)
        status, output = done.returncode, done.stdout
    except subprocess.TimeoutExpired as late:
        status, output = 124, late.stdout or b""
    return status, output.decode(errors="replace"), time.monotonic() - begin


def launch(timeout):
    """The words of the build's own mpiexec before `-n`, which ends a job in time and cleans up.

    FULMAR_TEST_LAUNCH: words in place of the build's mpiexec, any launcher that knows -n, as for several hosts.
    """
    if words := shlex.split(os.environ.get("FULMAR_TEST_LAUNCH", "")):
        return ["timeout", str(timeout), *words]
    return [str(BIN / "mpiexec"), "--deadlock-timeout", "30", "--deadlock-abort", "--timeout", str(timeout)]


def mpiexec(ranks, command, timeout, env=None, cwd=None):
    """The same for such a job.

    None of these programs deadlocks, so a report of one is a failure (status 125), whatever becomes of the job.
    """
    job = [*launch(timeout), "-n", str(ranks), *command]
    status, output, seconds = run(job, timeout + 30, env, cwd)
    return STANDSTILL_STATUS if STANDSTILL in output else status, output, seconds


def mpi_symbols(nm_option, file):
    """The names beginning with MPI_ in a dynamic symbol table: `--undefined-only` or `--defined-only`."""
    listing = subprocess.run(["nm", "-D", nm_option, str(file)], capture_output=True, text=True, check=True).stdout
    names = (line.split()[-1].split("@")[0] for line in listing.splitlines() if line.strip())
    return {name for name in names if name.startswith("MPI_")}


def unresolved(program):
    """How many MPI functions a program asks for, and which of them libmpi_abi.so.1 lacks."""
    wanted = mpi_symbols("--undefined-only", program)
    return len(wanted), sorted(wanted - mpi_symbols("--defined-only", LIBRARY))
