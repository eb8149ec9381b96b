# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""work_queue: one rank hands out pieces of work, the others ask for more when they are done.

    mpiexec -n 4 python3 work_queue.py [limit]

The work is to count the primes below a limit, in ranges of 1000 numbers. ../work_queue.c explains why they are not
dealt beforehand. Messages are Python objects: a range, or None for the end. mpi4py's own MPIPoolExecutor (mpi4py.futures)
does the same for functions.
"""

import sys

from mpi4py import MPI

LENGTH = 1000


def is_prime(n):
    return n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))


def count_primes(numbers):
    return sum(map(is_prime, numbers))


def work(world):
    """The first message brings no result: it says that this rank is there."""
    count = 0
    while True:
        world.send(count, dest=0)
        numbers = world.recv(source=0)
        if numbers is None:
            return
        count = count_primes(numbers)


def manage(world, limit):
    """The primes, and how many ranges each rank has done."""
    ranges = iter([range(first, min(first + LENGTH, limit)) for first in range(0, limit, LENGTH)])
    if world.size == 1:
        results = [count_primes(numbers) for numbers in ranges]
        return sum(results), [len(results)]
    primes, done, working = 0, [0] * world.size, world.size - 1
    status = MPI.Status()
    while working:
        primes += world.recv(source=MPI.ANY_SOURCE, status=status)
        numbers = next(ranges, None)
        world.send(numbers, dest=status.source)
        done[status.source] += numbers is not None
        working -= numbers is None
    return primes, done


def main():
    world = MPI.COMM_WORLD
    limit = int(sys.argv[1]) if len(sys.argv) > 1 else 100000
    if world.rank > 0:
        work(world)
        return
    primes, done = manage(world, limit)
    print(f"{primes} primes below {limit}")
    for rank, ranges in enumerate(done):
        if rank > 0 or world.size == 1:
            print(f"rank {rank} has done {ranges} ranges")


main()
