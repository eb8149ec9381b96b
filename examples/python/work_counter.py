# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""work_counter: every rank takes the next piece of work from a counter, and nobody hands it out.

    mpiexec -n 4 python3 work_counter.py [limit]

The same work as in work_queue.py, without a manager: a number in a window of rank 0 says where the next range begins.
Fetch_and_op adds to it and gives its old value, as one step; see ../work_counter.c.
"""

import sys
from array import array

from mpi4py import MPI

LENGTH = 1000


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def ranges(counter, limit):
    """The ranges that this rank gets, one by one."""
    step, first = array("q", [LENGTH]), array("q", [0])
    while True:
        counter.Fetch_and_op([step, MPI.INT64_T], [first, MPI.INT64_T], target_rank=0, op=MPI.SUM)
        counter.Flush(0)
        if first[0] >= limit:
            return
        yield range(first[0], min(first[0] + LENGTH, limit))


def main():
    world = MPI.COMM_WORLD
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    counter = MPI.Win.Allocate(8 if world.rank == 0 else 0, 8, comm=world)  # one number, zero at first
    primes = count = 0
    counter.Lock_all(MPI.MODE_NOCHECK)
    for numbers in ranges(counter, limit):
        primes += sum(map(is_prime, numbers))
        count += 1
    counter.Unlock_all()
    primes, count = world.reduce(primes), world.reduce(count)
    if world.rank == 0:
        wrong = "" if count == -(-limit // LENGTH) else ": WRONG"
        print(f"{primes} primes below {limit}, in {count} ranges{wrong}")
    counter.Free()


main()
