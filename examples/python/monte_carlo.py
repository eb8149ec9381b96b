# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""monte_carlo: pi by throwing darts.

    mpiexec -n 4 python3 monte_carlo.py [thousands of darts for each rank]

Each rank throws darts of its own, from a generator that is seeded with its rank, and the hits are added up at the
end. ../monte_carlo.c says more about it.
"""

import math
import random
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD
darts = 1000 * (int(sys.argv[1]) if len(sys.argv) > 1 else 500)

throw = random.Random(f"rank {world.rank}").random
inside = sum(throw() ** 2 + throw() ** 2 < 1 for _ in range(darts))
total = world.reduce(inside, op=MPI.SUM, root=0)

if world.rank == 0:
    darts *= world.size
    pi = 4 * total / darts
    deviation = math.sqrt(pi * (4 - pi) / darts)
    print(f"pi is about {pi:.8f}, from {darts} darts, with a deviation of {deviation:.8f}")
    if abs(pi - math.pi) > 6 * deviation:
        print("WRONG: that is further away than chance explains")
        world.Abort(1)
