# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Runs programs that others have built for MPICH and Open MPI on Fulmar, as they are.

usage: run.py [--ranks N]

Debian's hpcc and NetPIPE (apt-get download, unpacked below the build folder) and PyPI's wheel of mpi4py, under both ABIs, and
PyPI's NEURON, which opens MPI when it runs. What cannot be had is skipped. Each one has to say that its results are right, or that it
runs on Fulmar.
"""

import argparse
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import support  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
FOLDER = support.BUILD / "external" / "binaries"
PYTHON_TEXT = ("from mpi4py import MPI; c = MPI.COMM_WORLD; "
               "print(MPI.Get_library_version().split(',')[0], c.allreduce(c.rank + 1), c.size)")


def fetch(command):
    """Whether a download worked; it may not take long."""
    try:
        subprocess.run(command, cwd=FOLDER, check=True, capture_output=True, timeout=120)
    except (OSError, subprocess.SubprocessError) as problem:
        print(f"  cannot be had: {' '.join(command)}: {problem}")
        return False
    return True


def debian(package, program):
    """The program of a Debian package; None where it cannot be had."""
    root = FOLDER / package
    if not (root / program).exists():
        if not fetch(["apt-get", "download", package]):
            return None
        files = sorted(FOLDER.glob(f"{package}_*.deb"))
        if not files or not fetch(["dpkg", "-x", str(files[-1]), str(root)]):
            return None
    return root / program


def wheel(name):
    """The folder with a package of PyPI and what it needs; None where it cannot be had."""
    root = FOLDER / name
    if not (root / "ready").exists():
        if not fetch([sys.executable, "-m", "pip", "install", "-q", "--only-binary", ":all:", "--upgrade", "--target", str(root), name]):
            return None
        (root / "ready").touch()
    return root


def job(name, ranks, command, good, cwd=None, **variables):
    """Runs a job and says whether it was right."""
    environment = support.clean_environment(**variables)
    status, output, seconds = support.mpiexec(ranks, command, 300, environment, cwd)
    passed = status == 0 and good(output)
    print(f"  {name:24} {'passed' if passed else 'FAILED'} {seconds:6.1f} s", flush=True)
    if not passed:
        print(f"  exit status {status}\n{output[-4000:]}")
    return passed


def run_hpcc(program, ranks):
    """hpcc with its own small input, for as many processes; all of its tests have to pass."""
    folder = FOLDER / "hpcc.run"
    folder.mkdir(exist_ok=True)
    example = next(program.parents[1].glob("share/doc/hpcc/examples/*hpccinf*"), None)
    text = example.read_text()
    text = re.sub(r"^\d+(\s+Ps)", rf"{ranks}\1", text, flags=re.M)
    text = re.sub(r"^\d+(\s+Qs)", r"1\1", text, flags=re.M)
    (folder / "hpccinf.txt").write_text(re.sub(r"^\d+(\s+Ns)", r"500\1", text, flags=re.M))
    result = folder / "hpccoutf.txt"
    result.unlink(missing_ok=True)

    def good(_):
        found = result.read_text() if result.exists() else ""
        return "Success=1" in found and "FAILED" not in found and "End of HPC Challenge tests" in found

    return job("hpcc (Open MPI)", ranks, [program], good, cwd=folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ranks", type=int, default=2)
    ranks = parser.parse_args().ranks
    FOLDER.mkdir(parents=True, exist_ok=True)
    results = []
    for package, program, abi in (("netpipe-mpich2", "usr/bin/NPmpich2", "MPICH"),
                                  ("netpipe-openmpi", "usr/bin/NPopenmpi", "Open MPI")):
        found = debian(package, program)
        if found is not None:
            results.append(job(f"NetPIPE ({abi})", 2, [found, "-u", "1000", "-o", os.devnull],
                               lambda text: len(re.findall(r"^ *\d+: ", text, re.M)) > 10))
    found = debian("hpcc", "usr/bin/hpcc")
    if found is not None:
        results.append(run_hpcc(found, ranks))
    site = wheel("mpi4py")
    for abi in ("mpich", "openmpi") if site is not None else ():
        total = ranks * (ranks + 1) // 2
        results.append(job(f"mpi4py ({abi})", ranks, [sys.executable, "-c", PYTHON_TEXT],
                           lambda text: len(re.findall(rf"Fulmar \S+ {total} {ranks}$", text, re.M)) == ranks,
                           PYTHONPATH=site, MPI4PY_MPIABI=abi))
    site = wheel("neuron")
    if site is not None:
        results.append(job("NEURON (libmpi.so)", ranks, [sys.executable, HERE / "ring_of_cells.py"],
                           lambda text: len(re.findall(rf"^rank \d+ of {ranks}, {2 * ranks + 1} spikes$", text, re.M)) == ranks,
                           PYTHONPATH=site))
    if not results:
        support.skip("none of the programs can be had")
    return 0 if all(results) else 1


sys.exit(main())
