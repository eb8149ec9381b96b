# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds h5py for parallel HDF5 and runs its tests and parallel.py on several ranks.

usage: run.py [--ranks N...] [--folder FOLDER]     (default: 2 and 4 ranks, a temporary folder)

Takes the HDF5 that the recipe of hdf5 has installed and the mpi4py of the recipe of mpi4py. h5py 3.11 comes from PyPI,
with what its build needs; without network it is skipped.
"""

import argparse
import os
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "mpi4py")]
import prepare  # noqa: E402
import sources  # noqa: E402
import support  # noqa: E402

HDF5 = support.BUILD / "external" / "hdf5" / "installed"
FOLDER = support.BUILD / "external" / "h5py"
PYTHON = FOLDER / "bin" / "python"
# Later ones of these change what h5py 3.11 is compiled against.
PACKAGES = ("numpy<2", "cython<3.1", "pkgconfig", "setuptools<81", "wheel", "pytest<9", "pytest-mpi")
H5PY = "h5py==3.11.0"


def step(title, *command, **changes):
    """One command that has to succeed."""
    status, output, seconds = support.run(command, 3600, support.clean_environment(**changes))
    print(f"{title}: {seconds:.0f} s", flush=True)
    if status != 0:
        print(output[-6000:])
        if prepare.UNREACHABLE.search(output):
            support.skip("PyPI cannot be reached")
        sys.exit(f"h5py: {title} failed with status {status}")


def build():
    """A virtual environment with h5py; Python's program there."""
    if not (HDF5 / "lib" / "libhdf5.so").exists():
        support.skip("there is no parallel HDF5; see tests/external/hdf5/run.py")
    if not prepare.site("fulmar").exists():
        support.skip("there is no mpi4py; see tests/external/mpi4py/prepare.py")
    if not (FOLDER / "ready").exists():
        step("virtual environment", sys.executable, "-m", "venv", "--clear", FOLDER)
        pip = (PYTHON, "-m", "pip", "install", "-q", "--disable-pip-version-check")
        step("packages", *pip, *PACKAGES)
        site = next(FOLDER.glob("lib/python3*/site-packages"))
        for part in prepare.site("fulmar").glob("mpi4py*"):
            shutil.copytree(part, site / part.name)
        step("h5py", *pip, "--no-build-isolation", "--no-binary", "h5py", H5PY, HDF5_MPI="ON", HDF5_DIR=HDF5,
             CC=support.BIN / "mpicc", CFLAGS="-O0 -g0 -w")
        (FOLDER / "ready").touch()
    return PYTHON


def judge_own(ranks, status, output):
    """What is wrong with a run of parallel.py; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    right = output.count("all data are right")
    return "" if right == ranks else f"{right} of {ranks} ranks found all data right"


def judge_tests(ranks, status, output):
    """The same for h5py's own tests, which each rank runs whole."""
    if status != 0:
        return f"exit status {status}"
    passed = [int(count) for count in re.findall(r"(\d+) passed", output)]
    return "" if len(passed) == ranks and min(passed) > 500 else f"passed on {len(passed)} ranks: {passed}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    parser.add_argument("--folder", help="where the files are written")
    arguments = parser.parse_args()
    python = build()
    # It wants that a file without permissions cannot be opened, which root can.
    as_root = ["--deselect", "tests/test_file.py::TestFileOpen::test_append"] if os.geteuid() == 0 else []
    tests = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", "h5py", "--with-mpi", *as_root]
    table = sources.Table()
    for ranks in arguments.ranks:
        with tempfile.TemporaryDirectory(prefix="fulmar-h5py-", dir=arguments.folder) as folder:
            environment = support.clean_environment(PYTHONDONTWRITEBYTECODE="1", TMPDIR=folder)
            command = [python, HERE / "parallel.py", f"{folder}/parallel.h5"]
            status, output, seconds = support.mpiexec(ranks, command, 300, environment, folder)
            table.add(f"parallel.py {ranks} ranks", judge_own(ranks, status, output), seconds, output)
            status, output, seconds = support.mpiexec(ranks, [python, *tests], 1200, environment, folder)
            table.add(f"h5py's tests {ranks} ranks", judge_tests(ranks, status, output), seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
