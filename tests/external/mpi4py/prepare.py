# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds mpi4py for the standard ABI twice, from the same source: with Fulmar's mpicc and with MPICH's mpicc_abi.

usage: prepare.py [--ulfm | --pypi]      (FULMAR_BUILD_DIR names the build; default build/release)

With --ulfm a third wheel is built, with Fulmar's mpicc and the functions of mpi-ext.h, which mpi4py would
else replace by calls of its own: site-ulfm. With --pypi the wheel is the one that `pip install mpi4py` installs, which
has a module for each ABI: site-pypi, with NumPy beside it, for the tests that need it.

Everything lies below external/mpi4py in the build folder: the source, a virtual environment with what the
build needs, one with MPICH, and the two wheels unpacked as site-fulmar and site-mpich. What is there already
is kept while header, wrapper, Python and flags stay the same, so that a second call takes no time. Exits
with 77 when PyPI cannot be reached.
"""

import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import support  # noqa: E402  (beside this folder)

VERSION = "4.1.2"
MPICH = "mpich==5.0.2"
FOLDER = support.BUILD / "external" / "mpi4py"
SOURCE = FOLDER / f"mpi4py-{VERSION}"
TOOLS = FOLDER / "tools"
PEER = FOLDER / "mpich"
# 3.3 million lines of generated C: without optimization the compiler needs ten seconds instead of a hundred.
CFLAGS = os.environ.get("FULMAR_EXTERNAL_CFLAGS", "-O0 -g0")
# mpi4py looks for these functions in libraries that it knows by name.
ULFM = ("ERR_REVOKED", "ERR_PROC_FAILED", "ERR_PROC_FAILED_PENDING", "Comm_revoke", "Comm_is_revoked", "Comm_get_failed",
        "Comm_ack_failed", "Comm_agree", "Comm_iagree", "Comm_shrink", "Comm_ishrink")
COUNTER = FOLDER / "count_ulfm.so"
ULFM_CFLAGS = " ".join([CFLAGS, "-include mpi-ext.h", *(f"-DPyMPI_HAVE_MPIX_{name}=1" for name in ULFM)])
UNREACHABLE = re.compile(r"Retrying \(|NewConnectionError|ConnectionError|Could not fetch URL|Temporary failure|"
                         r"No matching distribution found|ProxyError|Read timed out")


def site(peer):
    """Where the wheel that was built with a library's compiler is unpacked: `fulmar` or `mpich`."""
    return FOLDER / f"site-{peer}"


def step(title, *command, **changes):
    """One command that has to succeed."""
    status, output, seconds = support.run(command, 1500, support.clean_environment(**changes), FOLDER)
    print(f"{title}: {seconds:.0f} s", flush=True)
    if status != 0:
        print(output)
        if UNREACHABLE.search(output):
            support.skip("PyPI cannot be reached")
        sys.exit(f"prepare.py: {title} failed with status {status}")


def pip(title, *words, **changes):
    """pip of the tools' environment; it never looks for a newer pip."""
    changes |= {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_RETRIES": "1", "PIP_TIMEOUT": "20"}
    step(title, TOOLS / "bin" / "python", "-m", "pip", *words, **changes)


def fetch():
    """The environments and the source, unpacked."""
    if not (TOOLS / "ready").exists():
        step("virtual environment", sys.executable, "-m", "venv", "--clear", TOOLS)
        pip("Cython", "install", "-q", "setuptools<81", "wheel", "cython>=3.0.1")
        (TOOLS / "ready").touch()
    if not (PEER / "ready").exists():
        step("second environment", sys.executable, "-m", "venv", "--clear", "--without-pip", PEER)
        pip("MPICH", "--python", PEER / "bin" / "python", "install", "-q", MPICH)
        (PEER / "ready").touch()
    if not (SOURCE / "setup.py").exists():
        pip("source of mpi4py", "download", "-q", "--no-deps", "--no-build-isolation", "--no-binary", "mpi4py",
            f"mpi4py=={VERSION}")
        with tarfile.open(FOLDER / f"mpi4py-{VERSION}.tar.gz") as archive:
            # The filter came with Python 3.11.4; Debian 12 has 3.11.2.
            archive.extractall(FOLDER, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def build(peer, compiler, cflags=CFLAGS):
    """One wheel, unpacked. The generated C stays in the source tree: it is the same for both."""
    headers = sorted(compiler.parent.parent.glob("include/mpi*.h"))
    parts = [sys.version, cflags, VERSION, *(file.read_text(errors="replace") for file in [compiler, *headers])]
    key = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    stamp = site(peer) / "built-from"
    if stamp.exists() and stamp.read_text() == key:
        return
    wheels = FOLDER / f"wheel-{peer}"
    for old in (SOURCE / "build", wheels, site(peer)):
        shutil.rmtree(old, ignore_errors=True)
    changes = {"MPI4PY_BUILD_MPIABI": "1", "MPICC": compiler, "CFLAGS": cflags}
    pip(f"wheel with {compiler.name}", "wheel", "--no-deps", "--no-build-isolation", "-w", wheels, SOURCE, **changes)
    pip("unpacking", "install", "-q", "--no-deps", "--target", site(peer), *wheels.glob("*.whl"))
    stamp.write_text(key)


def fetch_wheel():
    """The wheel of PyPI, unpacked as it is."""
    if (site("pypi") / "ready").exists():
        return
    shutil.rmtree(site("pypi"), ignore_errors=True)
    pip("wheel of PyPI", "install", "-q", "--no-deps", "--only-binary", ":all:", "--target", site("pypi"), "numpy",
        f"mpi4py=={VERSION}")
    modules = {abi: list(site("pypi").glob(f"mpi4py/MPI.{abi}*.so")) for abi in ("mpich", "openmpi")}
    if not all(modules.values()):
        sys.exit(f"prepare.py: the wheel of PyPI has no module for each of {' '.join(modules)}")
    (site("pypi") / "ready").touch()


def build_counter():
    """What counts the calls of a process when it is preloaded."""
    source = pathlib.Path(__file__).resolve().parent / "count_ulfm.c"
    step("counter of calls", support.BIN / "mpicc", "-O1", "-fPIC", "-shared", "-o", COUNTER, source)


def check_ulfm():
    """The module calls our functions, and not what mpi4py has in their place."""
    module = next(site("ulfm").glob("mpi4py/MPI.*.so"))
    names = subprocess.run(["nm", "-D", "--undefined-only", module], check=True, capture_output=True, text=True).stdout
    lacking = [name for name in ULFM if name.startswith("Comm_") and f" MPIX_{name}" not in names]
    if lacking:
        sys.exit(f"prepare.py: {module} does not call {' '.join(lacking)} of mpi-ext.h")
    print(f"mpi4py {VERSION} built with ulfm: calls the functions of mpi-ext.h")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    fetch()
    if "--ulfm" in sys.argv[1:]:
        build("ulfm", support.BIN / "mpicc", ULFM_CFLAGS)
        build_counter()
        return check_ulfm()
    if "--pypi" in sys.argv[1:]:
        return fetch_wheel()
    build("fulmar", support.BIN / "mpicc")
    build("mpich", PEER / "bin" / "mpicc_abi")
    for peer in ("fulmar", "mpich"):
        modules = list(site(peer).glob("mpi4py/MPI.*.so"))
        if len(modules) != 1:
            sys.exit(f"prepare.py: the wheel built with {peer} holds {len(modules)} modules MPI.*.so instead of one")
        count, lacking = support.unresolved(modules[0])
        if lacking or count < 400:
            sys.exit(f"prepare.py: {len(lacking)} of {count} MPI symbols of {modules[0]} are not in "
                     f"{support.LIBRARY}: {' '.join(lacking)}")
        print(f"mpi4py {VERSION} built with {peer}: all {count} MPI symbols resolve")


if __name__ == "__main__":
    main()
