# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""ring: a number travels from rank to rank, and everybody adds something to it.

    mpiexec -n 4 python3 ring.py [laps]

The number lies in a buffer (array.array here; NumPy's arrays are used in the same way), so no object is pickled on
the way. ../ring.c explains the order of sends and receives.
"""

import array
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
laps = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
next_rank = (world.rank + 1) % world.size
previous = (world.rank - 1) % world.size

number = array.array("q", [0])
begin = MPI.Wtime()
for lap in range(laps):
    if world.rank == 0:
        world.Sendrecv_replace(number, dest=next_rank, sendtag=lap, source=previous, recvtag=lap)
    else:
        world.Recv(number, source=previous, tag=lap)
        number[0] += world.rank
        world.Send(number, dest=next_rank, tag=lap)
seconds = MPI.Wtime() - begin

if world.rank == 0:
    hop_us = 1e6 * seconds / (max(laps, 1) * world.size)
    print(f"{laps} laps over {world.size} ranks: {number[0]}, {hop_us:.3f} us for each hop")
    if number[0] != laps * world.size * (world.size - 1) // 2:
        print("WRONG")
        world.Abort(1)
