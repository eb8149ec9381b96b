# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""stencil_post: heat in a square plate, where each rank writes its edges into the memory of its neighbours.

    mpiexec -n 4 python3 stencil_post.py [cells] [steps]

Before each step the ranks tell only their neighbours that their halo may be written (Post), and wait only for theirs
(Start, Complete, Wait); ../stencil_post.c explains it. Here too each rank computes the whole plate by itself
at the end and compares.
"""

import sys

from mpi4py import MPI


def begin_of(part, parts, cells):
    return cells * part // parts


class Block:
    """Some cells of the plate in a frame, in the memory of a window or, without one, of this process alone."""

    def __init__(self, rows, columns, memory):
        self.rows, self.columns, self.width = rows, columns, columns + 2
        self.cells = memory

    def fill(self, row, n):
        for i in range(self.rows + 2):
            at = row + i - 1
            for k in range(self.width):
                self.cells[i * self.width + k] = 100.0 if at < 0 else 0.0 if at >= n else 20.0

    def step(self, to):
        width, cells = self.width, self.cells
        for i in range(1, self.rows + 1):
            for at in range(i * width + 1, i * width + self.columns + 1):
                to.cells[at] = 0.25 * (cells[at - width] + cells[at + width] + cells[at - 1] + cells[at + 1])


def cells_of(rows, columns):
    return (rows + 2) * (columns + 2)


class Part:
    """Which cells a rank of the grid has."""

    def __init__(self, grid, rank, n):
        at = grid.Get_coords(rank)
        self.row, self.column = (begin_of(at[i], grid.dims[i], n) for i in range(2))
        self.rows = begin_of(at[0] + 1, grid.dims[0], n) - self.row
        self.columns = begin_of(at[1] + 1, grid.dims[1], n) - self.column


class Edges:
    """What goes to the neighbours, and where it belongs there."""

    def __init__(self, grid, win, n):
        self.win = win
        self.own = Part(grid, grid.rank, n)
        up, down = grid.Shift(0, 1)
        left, right = grid.Shift(1, 1)
        self.neighbours = [(rank, side, Part(grid, rank, n)) for rank, side in
                           ((up, "up"), (down, "down"), (left, "left"), (right, "right")) if rank != MPI.PROC_NULL]
        self.group = grid.group.Incl([rank for rank, _, _ in self.neighbours])
        self.types = {}

    def column(self, part):
        key = (part.rows, part.columns)
        if key not in self.types:
            self.types[key] = MPI.DOUBLE.Create_vector(part.rows, 1, part.columns + 2).Commit()
        return self.types[key]

    def put(self, memory, number):
        self.win.Post(self.group)
        self.win.Start(self.group)
        for rank, side, part in self.neighbours:
            mine, theirs = self.own, part
            own_width, width = mine.columns + 2, theirs.columns + 2
            if side in ("up", "down"):
                count, own_type, type_there = mine.columns, MPI.DOUBLE, MPI.DOUBLE
                at = own_width * (1 if side == "up" else mine.rows) + 1
                there = width * (theirs.rows + 1 if side == "up" else 0) + 1
            else:
                count, own_type, type_there = 1, self.column(mine), self.column(theirs)
                at = own_width + (1 if side == "left" else mine.columns)
                there = width + (theirs.columns + 1 if side == "left" else 0)
            there += number * cells_of(theirs.rows, theirs.columns)
            self.win.Put([memory[number * cells_of(mine.rows, mine.columns) + at:], count, own_type], rank,
                         [there, count, type_there])
        self.win.Complete()
        self.win.Wait()

    def free(self):
        for each in self.types.values():
            each.Free()
        self.group.Free()


def alone(n, steps):
    """The whole plate."""
    plates = [Block(n, n, [0.0] * cells_of(n, n)) for _ in range(2)]
    for plate in plates:
        plate.fill(0, n)
    for s in range(steps):
        plates[s % 2].step(plates[1 - s % 2])
    return plates[steps % 2]


def main():
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 30
    world = MPI.COMM_WORLD
    grid = world.Create_cart(MPI.Compute_dims(world.size, 2))
    own = Part(grid, grid.rank, n)
    cells = cells_of(own.rows, own.columns)
    win = MPI.Win.Allocate(2 * cells * 8, 8, comm=grid)
    memory = memoryview(win.tomemory()).cast("d")
    blocks = [Block(own.rows, own.columns, memory[b * cells:(b + 1) * cells]) for b in range(2)]
    for block in blocks:
        block.fill(own.row, n)
    edges = Edges(grid, win, n)
    grid.Barrier()
    for s in range(steps):
        edges.put(memory, s % 2)
        blocks[s % 2].step(blocks[1 - s % 2])
    plate, block = alone(n, steps), blocks[steps % 2]
    wrong = sum(block.cells[i * block.width + k] != plate.cells[(own.row + i) * plate.width + own.column + k]
                for i in range(1, own.rows + 1) for k in range(1, own.columns + 1))
    wrong = grid.allreduce(wrong)
    if grid.rank == 0:
        print(f"{steps} steps of {n} x {n} cells on {grid.dims[0]} x {grid.dims[1]} ranks: {wrong} cells are wrong"
              f"{': WRONG' if wrong else ''}")
    edges.free()
    win.Free()
    grid.Free()


main()
