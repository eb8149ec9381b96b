# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""hello: who is there, and where.

    mpiexec -n 4 python3 hello.py

mpi4py starts MPI when it is imported and ends it when Python ends. Its methods with small letters (gather) take any
object that can be pickled; those with capitals (Gather) take buffers and are as fast as C. ../hello.c explains
what the program does.
"""

from mpi4py import MPI

world = MPI.COMM_WORLD
names = world.gather(MPI.Get_processor_name(), root=0)
if world.rank == 0:
    for rank, name in enumerate(names):
        print(f"hello from rank {rank} of {world.size} on {name}")
