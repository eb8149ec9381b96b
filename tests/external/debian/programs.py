# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The programs of Debian that run on both libraries, with what has to come out of them."""

import collections
import gzip
import re

import root

LIB = "/usr/lib/x86_64-linux-gnu"
DOCUMENTS = "/usr/share/doc"
PETSC = "/usr/share/petsc/3.18/share/petsc/examples/src"

# `mpi`: the one it was linked to. `prepare(root, folder)` puts files into the folder where it runs. `results(output,
# folder)`: what has to be there and equal under both libraries, empty if it went wrong. `clock(output)`: its own seconds, or None.
Program = collections.namedtuple("Program", "name mpi ranks command results prepare clock", defaults=(None, None))


def lines(pattern):
    """All lines that match, as the results of a program."""
    return lambda output, folder: re.findall(pattern, output, re.M)


def clock(pattern):
    def seconds(output):
        found = re.search(pattern, output, re.M)
        return float(found[1]) if found else None
    return seconds


# HPCC takes the grid from the file, with its package's example for the rest.
def prepare_hpcc(ranks):
    def prepare(inside, folder):
        text = (inside.folder / f"{DOCUMENTS[1:]}/hpcc/examples/_hpccinf.txt").read_text()
        for name, value in (("Ps", ranks // 2 or 1), ("Qs", min(ranks, 2)), ("Ns", 1000)):
            text = re.sub(rf"^\d+(\s+{name})", rf"{value}\1", text, count=1, flags=re.M)
        (folder / "hpccinf.txt").write_text(text)
        (folder / "hpccoutf.txt").unlink(missing_ok=True)
    return prepare


def hpcc_results(_, folder):
    report = (folder / "hpccoutf.txt").read_text()
    if "Success=1" not in report or "FAILED" in report or "End of HPC Challenge tests" not in report:
        return []
    return re.findall(r"^(?:CommWorldProcs|HPL_N|PTRANS_residual|MPIRandomAccess_N|MPIFFT_N)=.*", report, re.M)


def prepare_melt(inside, folder):
    text = (inside.folder / "usr/share/lammps/examples/melt/in.melt").read_text()
    (folder / "in.melt").write_text(text)


SILICON = """\
&control
  calculation = 'scf', prefix = 'silicon', pseudo_dir = '.', outdir = 'out', tstress = .true., tprnfor = .true.
/
&system
  ibrav = 2, celldm(1) = 10.2, nat = 2, ntyp = 1, ecutwfc = 24.0
/
&electrons
  conv_thr = 1.0d-8
/
ATOMIC_SPECIES
  Si 28.086 Si.pz-vbc.UPF
ATOMIC_POSITIONS alat
  Si 0.00 0.00 0.00
  Si 0.25 0.25 0.25
K_POINTS automatic
  4 4 4 1 1 1
"""


def prepare_silicon(inside, folder):
    name = "Si.pz-vbc.UPF"
    packed = next((inside.folder / f"{DOCUMENTS[1:]}/quantum-espresso").rglob(f"{name}.gz"))
    (folder / name).write_bytes(gzip.decompress(packed.read_bytes()))
    (folder / "silicon.in").write_text(SILICON)


# The solver's residuals differ in the last digits with the order of sums; the number of iterations does not.
def prepare_petsc(directory, name):
    there = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real"
    flags = f"-w -I{there}/include -I/usr/share/petsc/3.18/include -L{there}/lib"

    def prepare(inside, folder):
        (folder / f"{name}.c").write_bytes((inside.folder / f"{PETSC[1:]}/{directory}/tutorials/{name}.c").read_bytes())
        command = ["mpicc.openmpi", f"{name}.c", *flags.split(), "-lpetsc_real", "-lm", "-o", name]
        status, output, _ = inside.run(command, 120, f"{root.RUNS}/{folder.name}")
        if status != 0:
            raise RuntimeError(f"{' '.join(command)} failed:\n{output}")
    return prepare



# ScaLAPACK: which of its programs of double precision, and the file that each reads; those of `BLACS` and PBLAS lie below.
SCALAPACK = {"xdlu": "LU", "xdllt": "LLT", "xdqr": "QR", "xdls": "LS", "xdinv": "INV", "xdbrd": "BRD", "xdhrd": "HRD",
             "xdtrd": "TRD", "xdsep": "SEP", "xdsvd": "SVD", "xdnep": "NEP", "xdgblu": "BLU", "xdpbllt": "BLLT", "xzlu": "LU",
             "xzllt": "LLT", "xzqr": "QR"}
SHORT = ("xdgblu", "xdqr", "PBLAS/dpb1tst")
PBLAS = {f"{letter}pb{level}tst": f"P{letter.upper()}BLAS{level}TST" for letter in "dz" for level in (1, 2, 3)}


def prepare_scalapack(mpi, below, file):
    def prepare(inside, folder):
        source = inside.folder / f"usr/share/scalapack/{below}"
        if not (source / file).exists():
            source = inside.folder / f"{LIB[1:]}/scalapack/{mpi}-tests/{below}"
        for data in source.glob("*.dat"):
            (folder / data.name).write_bytes(data.read_bytes())
    return prepare


def scalapack_results(output, _):
    """How many tests it says have passed, without their speed; nothing if one has failed."""
    failed = re.findall(r"^ *([1-9]\d*) tests (?:completed and failed|failed)|\bcheck: +\w+ +(FAILED)|PASSED +(FAILED) *$",
                        output, re.M)
    totals = re.findall(r"^ +\d+ tests (?:completed|skipped).*", output, re.M)
    sums = re.findall(r"^ +\|.*(?: +\d+){4} *$", output, re.M)
    singular = re.findall(r"^(Passed|Failed) ", output, re.M)  # of the test of singular values
    if failed or "Failed" in singular or any(int(line.split()[-2]) for line in sums):
        return []
    return [" ".join(line.split()) for line in totals + sums] or [f"{len(singular)} passed"] * bool(singular)


def scalapack(mpi):
    folder = f"{LIB}/scalapack/{mpi}-tests"
    found = [(name, "", f"{file}.dat") for name, file in SCALAPACK.items()]
    found += [(f"PBLAS/{name}", "PBLAS", f"{file}.dat") for name, file in PBLAS.items()]
    if mpi == "mpich":  # it polls without a pause, which takes minutes with more ranks than cores
        found = [one for one in found if one[0] in SHORT]
    return [Program(f"ScaLAPACK {name}", mpi, 4, [f"{folder}/{name}"], scalapack_results,
                    prepare_scalapack(mpi, below, file)) for name, below, file in found]


def netpipe(mpi, program):
    # The times differ, the sizes do not.
    return Program("NetPIPE", mpi, 2, [f"/usr/bin/{program}", "-n", "1000", "-u", "10000", "-o", "/dev/null"],
                   lines(r"^ *\d+: +\d+ bytes"))


def all_programs():
    found = [netpipe("openmpi", "NPopenmpi"), netpipe("mpich", "NPmpich2")]
    for ranks in (2, 4):
        found += [
            Program("hpcc", "openmpi", ranks, ["/usr/bin/hpcc"], hpcc_results, prepare_hpcc(ranks)),
            Program("LAMMPS melt", "openmpi", ranks, ["/usr/bin/lmp", "-in", "in.melt"],
                    lines(r"^ +\d+(?: +-?[\d.]+){5}.*$"), prepare_melt, clock(r"^Loop time of ([\d.]+)")),
            Program("Quantum ESPRESSO", "openmpi", ranks, ["/usr/bin/pw.x", "-in", "silicon.in"],
                    lines(r"^!.*total energy.*|.*convergence has been achieved.*|.*highest occupied.*|.*JOB DONE.*"),
                    prepare_silicon, clock(r"PWSCF +:.* ([\d.]+)s WALL")),
            Program("PETSc ksp/ex2", "openmpi", ranks, ["./ex2", "-m", "200", "-n", "200"],
                    lines(r"^Norm of error .* iterations \d+"), prepare_petsc("ksp/ksp", "ex2")),
            Program("PETSc snes/ex5", "openmpi", ranks, ["./ex5", "-da_refine", "4", "-snes_monitor_short"],
                    lines(r"^ +\d+ SNES Function norm.*"), prepare_petsc("snes", "ex5")),
        ]
    return found + scalapack("openmpi") + scalapack("mpich")
