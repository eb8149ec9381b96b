# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""stencil_shared: heat in a square plate, which lies in memory that the ranks of a node share.

    mpiexec -n 4 python3 stencil_shared.py [cells] [steps]

Each rank computes its own rows and reads those of its neighbours where they lie: no halos, no messages, only a barrier
between two MPI_Win_sync after each step; see ../stencil_shared.c. At the end each rank computes the plate alone
and compares.
"""

import sys

from mpi4py import MPI


def fill(plate, n, first, last):
    """Rows 0 and n + 1 are the edges, and so are the first and the last column."""
    for i in range(first, last):
        value = 100.0 if i == 0 else 0.0 if i == n + 1 else 20.0
        for at in range(i * (n + 2), (i + 1) * (n + 2)):
            plate[at] = value


def step(plate, to, n, first, last):
    width = n + 2
    for i in range(max(first, 1), min(last, n + 1)):
        for at in range(i * width + 1, i * width + n + 1):
            to[at] = 0.25 * (plate[at - width] + plate[at + width] + plate[at - 1] + plate[at + 1])


def meet(win, comm):
    """What a rank wrote before is what others read behind it."""
    win.Sync()
    comm.Barrier()
    win.Sync()


def share(node, n, rows):
    """A window, and all of its memory: that of one rank begins where the one before ends."""
    win = MPI.Win.Allocate_shared(rows * (n + 2) * 8, 8, comm=node)
    total = (n + 2) * (n + 2) * 8
    first, _ = win.Shared_query(MPI.PROC_NULL)
    return win, memoryview(MPI.buffer.fromaddress(MPI.Get_address(first), total)).cast("d")


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    node = MPI.COMM_WORLD.Split_type(MPI.COMM_TYPE_SHARED)
    first, last = ((n + 2) * rank // node.size for rank in (node.rank, node.rank + 1))
    wins, plates = zip(*(share(node, n, last - first) for _ in range(2)))
    for win, plate in zip(wins, plates):
        win.Lock_all(MPI.MODE_NOCHECK)
        fill(plate, n, first, last)
        meet(win, node)
    for s in range(steps):
        step(plates[s % 2], plates[1 - s % 2], n, first, last)
        meet(wins[1 - s % 2], node)
    alone = [[0.0] * ((n + 2) * (n + 2)) for _ in range(2)]
    for plate in alone:
        fill(plate, n, 0, n + 2)
    for s in range(steps):
        step(alone[s % 2], alone[1 - s % 2], n, 0, n + 2)
    wrong = MPI.COMM_WORLD.allreduce(sum(a != b for a, b in zip(plates[steps % 2], alone[steps % 2])))
    if MPI.COMM_WORLD.rank == 0:
        print(f"{steps} steps of {n} x {n} cells in the memory of {node.size} ranks: {wrong} cells are wrong"
              f"{': WRONG' if wrong else ''}")
    for win in wins:
        win.Unlock_all()
        win.Free()
    node.Free()


main()
