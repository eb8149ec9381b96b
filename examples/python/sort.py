# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""sort: sorting what no single process holds.

    mpiexec -n 4 python3 sort.py [thousands of numbers for each rank]

Each rank sorts its own numbers and gives a few of them, evenly spread, as samples. All samples together, sorted, tell
where to cut: rank r gets everything between two of the cuts. One alltoall brings the pieces to where they belong,
and a merge of sorted pieces ends it. ../sort.cc does the same with buffers.
"""

import bisect
import heapq
import random
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
count = 1000 * (int(sys.argv[1]) if len(sys.argv) > 1 else 100)
generator = random.Random(f"rank {world.rank}")
numbers = sorted(generator.getrandbits(40) for _ in range(count))

samples = numbers[:: max(1, count // (8 * world.size))]
samples = sorted(sample for part in world.allgather(samples) for sample in part)
cuts = [samples[len(samples) * r // world.size] for r in range(1, world.size)] if samples else []
places = [0, *(bisect.bisect_left(numbers, cut) for cut in cuts), count] if cuts else [0] * world.size + [count]
pieces = world.alltoall([numbers[begin:end] for begin, end in zip(places, places[1:])])
mine = list(heapq.merge(*pieces))

# Right: sorted inside, no smaller than what the rank before holds, and nothing lost.
first = mine[0] if mine else None
last = mine[-1] if mine else None
ends = world.gather((first, last), root=0)
total = world.reduce(len(mine), root=0)
wrong = world.reduce(sum(a > b for a, b in zip(mine, mine[1:])), root=0)
if world.rank == 0:
    bounds = [bound for pair in ends for bound in pair if bound is not None]
    right = wrong == 0 and bounds == sorted(bounds) and total == count * world.size
    print(f"{total} numbers on {world.size} ranks: {'sorted' if right else 'WRONG'}")
    if not right:
        world.Abort(1)
