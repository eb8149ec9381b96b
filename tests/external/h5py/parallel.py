# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What programs do with parallel h5py: all ranks write parts of data sets, collectively or not, and read those of others.

usage: parallel.py FILE
"""

import sys

import h5py
import numpy
from mpi4py import MPI

ROWS, COLUMNS = 12, 1001
comm = MPI.COMM_WORLD
rank, size = comm.rank, comm.size


def row(number):
    return numpy.arange(COLUMNS, dtype="i8") + 10000 * number


def write(file, name, collective, **options):
    """Row r belongs to rank r % size. All ranks have equally many: h5py leaves out a collective write of nothing."""
    data = file.create_dataset(name, (ROWS, COLUMNS), dtype="i8", **options)
    for number in range(rank, ROWS, size):
        if collective:
            with data.collective:
                data[number] = row(number)
        else:
            data[number] = row(number)


def check(file, name, collective):
    data = file[name]
    if collective:
        with data.collective:
            found = data[:, rank::size]
        wanted = numpy.array([row(number)[rank::size] for number in range(ROWS)])
    else:
        found = data[...]
        wanted = numpy.array([row(number) for number in range(ROWS)])
    assert (found == wanted).all(), f"{name} on rank {rank}"


CASES = [(f"{kind}.{mode}", mode == "collective", options)
         for kind, options in (("plain", {}), ("chunked", {"chunks": (3, 100)}))
         for mode in ("collective", "independent")]
with h5py.File(sys.argv[1], "w", driver="mpio", comm=comm) as whole:
    for case, together, how in CASES:
        write(whole, case, together, **how)
    # Data that pass a filter have to be written collectively.
    write(whole, "packed.collective", True, chunks=(1, COLUMNS), compression="gzip")
with h5py.File(sys.argv[1], "r", driver="mpio", comm=comm) as whole:
    for case in [case for case, _, _ in CASES] + ["packed.collective"]:
        for together in (True, False):
            check(whole, case, together)
print(f"rank {rank} of {size}: all data are right", flush=True)
