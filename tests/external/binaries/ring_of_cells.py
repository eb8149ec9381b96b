# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""NEURON: a cell on each rank. The first is stimulated, and each makes the next one fire, until the ring is closed."""

from neuron import h

h.nrnmpi_init()
context = h.ParallelContext()
rank, ranks = int(context.id()), int(context.nhost())
soma = h.Section(name="soma")
soma.L = soma.diam = 20
soma.insert("hh")
if rank == 0:
    pulse = h.IClamp(soma(0.5))
    pulse.delay, pulse.dur, pulse.amp = 1, 1, 1
context.set_gid2node(rank, rank)
source = h.NetCon(soma(0.5)._ref_v, None, sec=soma)
context.cell(rank, source)
synapse = h.ExpSyn(soma(0.5))
synapse.tau = 1
connection = context.gid_connect((rank + ranks - 1) % ranks, synapse)
connection.weight[0], connection.delay = 0.1, 20
times, cells = h.Vector(), h.Vector()
context.spike_record(-1, times, cells)
context.set_maxstep(10)
h.finitialize(-65)
context.psolve(22 * 2 * ranks)
spikes = context.allreduce(times.size(), 1)
print(f"rank {rank} of {ranks}, {spikes:.0f} spikes", flush=True)
context.barrier()
h.quit()
