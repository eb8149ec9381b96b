# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The programs of Debian that run on both libraries, with what has to come out of them."""

import gzip
import pathlib
import re
import shutil

import root
import scalapack
from program import Program, clock, lines

DOCUMENTS = "/usr/share/doc"
PETSC = "/usr/share/petsc/3.18/share/petsc/examples/src"
HERE = pathlib.Path(__file__).resolve().parent


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


def compile_there(inside, folder, source, flags):
    """Compiles a source file of the folder for Open MPI; what was compiled from the same text before is taken again."""
    name = source.removesuffix(".c")
    kept = inside.folder / root.RUNS.strip("/") / "compiled" / name
    text = (folder / source).read_bytes()
    if not (kept / name).exists() or (kept / source).read_bytes() != text:
        shutil.rmtree(kept, ignore_errors=True)
        kept.mkdir(parents=True)
        (kept / source).write_bytes(text)
        command = ["mpicc.openmpi", source, *flags.split(), "-o", name]
        status, output, _ = inside.run(command, 120, f"{root.RUNS}/compiled/{name}")
        if status != 0:
            raise RuntimeError(f"{' '.join(command)} failed with status {status}:\n{output}")
    shutil.copy(kept / name, folder)


# The solver's residuals differ in the last digits with the order of sums; the number of iterations does not.
def prepare_petsc(directory, name):
    there = "/usr/lib/petscdir/petsc3.18/x86_64-linux-gnu-real"
    flags = f"-w -I{there}/include -I/usr/share/petsc/3.18/include -L{there}/lib"

    def prepare(inside, folder):
        (folder / f"{name}.c").write_bytes((inside.folder / f"{PETSC[1:]}/{directory}/tutorials/{name}.c").read_bytes())
        compile_there(inside, folder, f"{name}.c", f"{flags} -lpetsc_real -lm")
    return prepare


# FFTW's library with MPI, by a program of ours that compares it with the library without, and its own with one rank.
def prepare_fftw(inside, folder):
    (folder / "fftw.c").write_bytes((HERE / "fftw.c").read_bytes())
    compile_there(inside, folder, "fftw.c", "-O1 -lfftw3_mpi -lfftw3 -lm")


def prepare_freefem(_, folder):
    (folder / "poisson.edp").write_bytes((HERE / "poisson.edp").read_bytes())


# mpi4py's own tests: of the version that Debian has, from its sources.
def prepare_mpi4py(inside, folder):
    source = inside.python_source("mpi4py", "3.1.4")
    if source is None:
        return False
    shutil.copytree(source / "test", folder, dirs_exist_ok=True)
    shutil.copy(HERE / "mpi4py_suite.py", folder)
    return True


def mpi4py_results(output, _):
    """How many tests ran on each rank, where none failed; some are left out under some libraries' names only."""
    counts = re.findall(r"^Ran (\d+) tests", output, re.M)
    return counts if len(re.findall(r"^OK\b", output, re.M)) == len(counts) else []


def netpipe(mpi, program):
    # The times differ, the sizes do not.
    return Program("NetPIPE", mpi, 2, [f"/usr/bin/{program}", "-n", "1000", "-u", "10000", "-o", "/dev/null"],
                   lines(r"^ *\d+: +\d+ bytes"))


def all_programs():
    found = [netpipe("openmpi", "NPopenmpi"), netpipe("mpich", "NPmpich2")]
    for ranks in (1, 2):
        found.append(Program("mpi4py 3.1.4, its tests", "openmpi", ranks,
                             ["/usr/bin/python3", "-B", "mpi4py_suite.py"], mpi4py_results, prepare_mpi4py))
    for ranks in (2, 4):
        found += [
            Program("hpcc", "openmpi", ranks, ["/usr/bin/hpcc"], hpcc_results, prepare_hpcc(ranks)),
            Program("LAMMPS melt", "openmpi", ranks, ["/usr/bin/lmp", "-in", "in.melt"],
                    lines(r"^ +\d+(?: +-?[\d.]+){5}.*$"), prepare_melt, clock(r"^Loop time of ([\d.]+)")),
            Program("Quantum ESPRESSO", "openmpi", ranks, ["/usr/bin/pw.x", "-in", "silicon.in"],
                    lines(r"^!.*total energy.*|.*convergence has been achieved.*|.*highest occupied.*|.*JOB DONE.*"),
                    prepare_silicon, clock(r"PWSCF +:.* ([\d.]+)s WALL")),
            Program("FreeFEM", "openmpi", ranks, ["/usr/bin/FreeFem++-mpi", "-nw", "-v", "0", "poisson.edp"],
                    lines(r"^(?:unknowns|ring) .*"), prepare_freefem),
            Program("FFTW", "openmpi", ranks, ["./fftw"], lines(r"^fftw: .*"), prepare_fftw),
            Program("PETSc ksp/ex2", "openmpi", ranks, ["./ex2", "-m", "200", "-n", "200"],
                    lines(r"^Norm of error .* iterations \d+"), prepare_petsc("ksp/ksp", "ex2")),
            Program("PETSc snes/ex5", "openmpi", ranks, ["./ex5", "-da_refine", "4", "-snes_monitor_short"],
                    lines(r"^ +\d+ SNES Function norm.*"), prepare_petsc("snes", "ex5")),
        ]
    return found + scalapack.programs("openmpi") + scalapack.programs("mpich")
