# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""hash_table: a table that lies in the memory of all ranks, and that all of them change at the same time.

    mpiexec -n 4 python3 hash_table.py [numbers]

Every rank draws numbers and counts in the table how often each of them was drawn, by all ranks together.
Compare_and_swap takes a place for a number, Fetch_and_op counts; ../hash_table.c explains how.
"""

import random
import sys
from array import array
from collections import Counter

from mpi4py import MPI

EMPTY = 0


class Table:
    """Places of two numbers: the key, and how often it was counted."""

    def __init__(self, comm, places):
        self.comm = comm
        self.places = places
        self.win = MPI.Win.Allocate(places * 16, 8, comm=comm)
        self.memory = memoryview(self.win.tomemory()).cast("q")
        self.win.Lock_all(MPI.MODE_NOCHECK)

    def free(self):
        self.win.Unlock_all()
        self.memory.release()
        self.win.Free()

    def swap(self, rank, at, old, new):
        found = array("q", [0])
        self.win.Compare_and_swap([array("q", [new]), MPI.INT64_T], [array("q", [old]), MPI.INT64_T],
                                  [found, MPI.INT64_T], rank, at)
        self.win.Flush(rank)
        return found[0]

    def fetch_and_add(self, rank, at, by):
        found = array("q", [0])
        self.win.Fetch_and_op([array("q", [by]), MPI.INT64_T], [found, MPI.INT64_T], rank, at, MPI.SUM)
        self.win.Flush(rank)
        return found[0]

    def add(self, key, by):
        """Returns the count before."""
        home = key * 2654435761 & 0xFFFFFFFF
        rank = home % self.comm.size
        for step in range(self.places):
            place = (home // self.comm.size + step) % self.places
            if self.swap(rank, 2 * place, EMPTY, key) in (EMPTY, key):
                return self.fetch_and_add(rank, 2 * place + 1, by)
        raise RuntimeError("the table is full")


def drawn(rank, numbers):
    dice = random.Random(rank)
    return [dice.randint(1, numbers // 4 + 1) for _ in range(numbers)]


def main():
    world = MPI.COMM_WORLD
    numbers = int(sys.argv[1]) if len(sys.argv) > 1 else 2000  # of each rank
    table = Table(world, (numbers // 4 + 1) * 2 // world.size + 64)
    world.Barrier()
    for number in drawn(world.rank, numbers):
        table.add(number, 1)
    world.Barrier()  # all have counted
    expected = Counter(number for rank in range(world.size) for number in drawn(rank, numbers))
    wrong = sum(table.add(key, 0) != expected[key] for key in range(1 + world.rank, numbers // 4 + 2, 7))
    world.Barrier()  # nobody adds a key any more
    counted = world.allreduce(sum(table.memory[1::2]))
    wrong = world.allreduce(wrong) + (counted != numbers * world.size)
    if world.rank == 0:
        print(f"{counted} numbers counted on {world.size} ranks{': WRONG' if wrong else ''}")
    table.free()


main()
