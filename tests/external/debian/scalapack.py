# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""ScaLAPACK's own test programs, as Debian packages them for both of its MPIs."""

import re

from program import LIB, Program

# Which of its programs of double precision, and the file that each reads; those of `BLACS` and PBLAS lie below.
SCALAPACK = {"xdlu": "LU", "xdllt": "LLT", "xdqr": "QR", "xdls": "LS", "xdinv": "INV", "xdbrd": "BRD", "xdhrd": "HRD",
             "xdtrd": "TRD", "xdsep": "SEP", "xdsvd": "SVD", "xdnep": "NEP", "xdgblu": "BLU", "xdpbllt": "BLLT", "xzlu": "LU",
             "xzllt": "LLT", "xzqr": "QR"}
SHORT = ("xdgblu", "xdqr", "PBLAS/dpb1tst")
PBLAS = {f"{letter}pb{level}tst": f"P{letter.upper()}BLAS{level}TST" for letter in "dz" for level in (1, 2, 3)}


def prepare_files(mpi, below, file):
    def prepare(inside, folder):
        source = inside.folder / f"usr/share/scalapack/{below}"
        if not (source / file).exists():
            source = inside.folder / f"{LIB[1:]}/scalapack/{mpi}-tests/{below}"
        for data in source.glob("*.dat"):
            (folder / data.name).write_bytes(data.read_bytes())
    return prepare


def results_of(output, _):
    """How many tests it says have passed, without their speed; nothing if one has failed."""
    failed = re.findall(r"^ *([1-9]\d*) tests (?:completed and failed|failed)|\bcheck: +\w+ +(FAILED)|PASSED +(FAILED) *$",
                        output, re.M)
    totals = re.findall(r"^ +\d+ tests (?:completed|skipped).*", output, re.M)
    sums = re.findall(r"^ +\|.*(?: +\d+){4} *$", output, re.M)
    singular = re.findall(r"^(Passed|Failed) ", output, re.M)  # of the test of singular values
    if failed or "Failed" in singular or any(int(line.split()[-2]) for line in sums):
        return []
    return [" ".join(line.split()) for line in totals + sums] or [f"{len(singular)} passed"] * bool(singular)


def programs(mpi):
    folder = f"{LIB}/scalapack/{mpi}-tests"
    found = [(name, "", f"{file}.dat") for name, file in SCALAPACK.items()]
    found += [(f"PBLAS/{name}", "PBLAS", f"{file}.dat") for name, file in PBLAS.items()]
    if mpi == "mpich":  # it polls without a pause, which takes minutes with more ranks than cores
        found = [one for one in found if one[0] in SHORT]
    return [Program(f"ScaLAPACK {name}", mpi, 4, [f"{folder}/{name}"], results_of,
                    prepare_files(mpi, below, file)) for name, below, file in found]
