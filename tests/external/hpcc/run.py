# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds HPCC 1.5 (HPL, PTRANS, RandomAccess, FFT, STREAM, latency and bandwidth) as it is and runs it, small.

usage: run.py [--ranks N...]     (default: 1 2 4)

HPCC_SOURCE names a folder with the sources (version 1.5.0; `apt-get source hpcc` has them). OpenBLAS with
its headers has to be installed (libopenblas-dev). HPCC compares all its results itself; they have to be
right, and every part has to have run. The problems are too small for speed, but latencies of pairs and rings are printed: with
HPCC_LAUNCH (words in place of mpiexec and its options) and HPCC_MPICC the same program runs on another library.
"""

import argparse
import os
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
GRIDS = {1: (1, 1), 2: (1, 2), 3: (1, 3), 4: (2, 2), 6: (2, 3), 8: (2, 4)}

# Each line of the input is a value and what HPCC's own example says of it. PTRANS takes its sizes from HPL's.
INPUT = """\
HPL's input, as HPCC reads it
small on purpose
HPL.out      file
8            device
1            problem sizes
{size}       Ns
1            block sizes
32           NBs
0            process mapping
1            process grids
{rows}       Ps
{columns}    Qs
16.0         threshold
1            panel factorisations
2            PFACTs
1            stopping criteria
4            NBMINs
1            panels in recursion
2            NDIVs
1            recursive factorisations
1            RFACTs
1            broadcasts
1            BCASTs
1            lookahead depths
1            DEPTHs
2            SWAP
64           swapping threshold
0            L1
0            U
1            equilibration
8            alignment
-
1            further sizes of PTRANS
200          Ns
1            further block sizes
16           NBs
"""

# What a run that went through all parts has measured, and what it has counted of errors.
MEASURED = ("HPL_Tflops", "PTRANS_GBs", "MPIRandomAccess_GUPs", "MPIRandomAccess_LCG_GUPs", "StarRandomAccess_GUPs",
            "StarDGEMM_Gflops", "StarSTREAM_Triad", "StarFFT_Gflops", "SingleFFT_Gflops")
BETWEEN_RANKS = ("MPIFFT_Gflops", "MaxPingPongLatency_usec", "RandomlyOrderedRingLatency_usec",
                 "NaturallyOrderedRingBandwidth_GBytes")
ERRORS = ("MPIRandomAccess_ErrorsFraction", "MPIRandomAccess_LCG_ErrorsFraction", "PTRANS_residual")


def judge(status, ranks, report):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    values = {name: float(value) for name, value in re.findall(r"^(\w+)=([-+.\deE]+)$", report, re.M)}
    if values.get("Success") != 1:
        return "HPCC says that it has failed"
    if re.search(r"\bFAILED\b", report):
        return "a residual is too large"
    wanted = MEASURED + (BETWEEN_RANKS if ranks > 1 else ())
    lacking = [name for name in wanted if not values.get(name, 0) > 0]
    if lacking:
        return f"no results of {' '.join(lacking)}"
    wrong = [name for name in ERRORS if values.get(name, 1) > 1e-2]
    return f"too many errors: {' '.join(wrong)}" if wrong else ""


def latencies(report):
    """Those between ranks, in microseconds."""
    found = dict(re.findall(r"^(\w+)Latency_usec=([\d.]+)$", report, re.M))
    wanted = ("AvgPingPong", "MaxPingPong", "NaturallyOrderedRing", "RandomlyOrderedRing")
    return ", ".join(f"{name} {float(found[name]):.2f}" for name in wanted if float(found.get(name, 0)) > 0)


def build(source):
    """The folder with the program."""
    compiler = os.environ.get("HPCC_MPICC", "mpicc")
    tell = f"sed 's|= mpicc$|= {compiler}|' '{HERE / 'Make.fulmar'}' > hpl/Make.fulmar"
    name = "hpcc" if compiler == "mpicc" else f"hpcc-{pathlib.Path(compiler).resolve().parent.parent.name}"
    return sources.build(name, source, [["sh", "-c", tell], ["make", "arch=fulmar"]])


def run(ranks, program, folder):
    environment = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    launch = os.environ.get("HPCC_LAUNCH")
    if launch:
        return support.run([*shlex.split(launch), "-n", str(ranks), program], 300, dict(os.environ) | environment, folder)
    return support.mpiexec(ranks, [program], 300, support.clean_environment(**environment), folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[1, 2, 4], choices=GRIDS)
    arguments = parser.parse_args()
    source = sources.folder("HPCC_SOURCE", "HPCC", "hpl/setup/Make.UNKNOWN.in")
    folder = build(source)
    table = sources.Table()
    for ranks in arguments.ranks:
        rows, columns = GRIDS[ranks]
        (folder / "hpccinf.txt").write_text(INPUT.format(size=384, rows=rows, columns=columns))
        result = folder / "hpccoutf.txt"
        result.unlink(missing_ok=True)  # HPCC appends
        status, output, seconds = run(ranks, folder / "hpcc", folder)
        report = result.read_text() if result.exists() else ""
        table.add(f"hpcc {ranks} ranks", judge(status, ranks, report), seconds, output + report)
        if ranks > 1:
            print(f"    latencies in us: {latencies(report)}", flush=True)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
