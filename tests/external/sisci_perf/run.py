# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds sisci-perf, a benchmark of Dolphin's adapters, with Fulmar's SISCI and runs its experiments.

usage: run.py [--peers 2...]

SISCI_PERF_SOURCE names a folder with its sources (github.com/kritjo/sisci-perf). What is built is a copy in which each
experiment takes a tenth of a second with segments of at most 1 MiB, which that is enough to fill, and those with broadcast
segments are off: Fulmar has no multicast. It stores to segments of other nodes, so all nodes are on one host. The numbers
say nothing about speed.
"""

import argparse
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

C = ["cc", "-std=gnu99", "-O2", "-w", "-pthread", "-D_REENTRANT", "-Ilib"]
INITIATOR = ["initiator_main", "simple_pio", "simple_dma", "scale_up_pio", "scale_out_pio", "var_size_pio", "var_size_dma",
             "dma_vec", "simple_interrupt", "simple_data_interrupt", "ping_pong_pio", "broadcast_pio", "broadcast_dma",
             "var_size_segments", "scale_up_out_pio", "interleaved_dmas"]
TOOLS = ["print_node_id", "print_node_id_from_hostname"]
LIBRARY = ["lib/block_for_termination_signal.c", "lib/common_read_write_functions.c", "lib/print_node_id.c"]
# What the program calls its experiments; each prints a line "$name;parameter;operations".
EXPERIMENTS = ["PIO", "DMA", "SCALE-UP", "SCALE-OUT", "SCALE-UP-OUT", "VAR-SIZE PIO", "VAR-SIZE DMA", "DMA VEC", "INTERRUPT",
               "DATA INTERRUPT", "PING-PONG PIO", "VAR SIZE SEGMENTS", "INTERLEAVED DMA"]
# The peer hands its thread a variable of a function that has returned by then.
ARGUMENTS = "s/ping_pong_thread_arg_t args = {/static ping_pong_thread_arg_t args; args = (ping_pong_thread_arg_t){/"
# The program takes 0 for no node.
FIRST_NODE = 4


def commands():
    library = support.BUILD / "lib"
    link = [f"-I{support.BUILD / 'include'}", f"-L{library}", f"-Wl,-rpath,{library}", "-lsisci"]
    build = [["sed", "-i", "s/it_value.tv_sec = seconds/it_value.tv_usec = 50000 * seconds/",
              "lib/common_read_write_functions.c"],
             ["sed", "-i", "s/define MAX_SEGMENT_SIZE .*/define MAX_SEGMENT_SIZE 1048576/", "lib/sisci_glob_defs.h"],
             ["sed", "-i", ARGUMENTS, "peer/peer_main.c"],
             ["sed", "-i", "s/PERF_BROADCAST_PIO 1/PERF_BROADCAST_PIO 0/", "initiator/initiator_main.h"],
             [*C, *(f"initiator/{name}.c" for name in INITIATOR), *LIBRARY, "-o", "initiator_main", *link],
             [*C, "peer/peer_main.c", "peer/ping_pong_thread.c", *LIBRARY, "-o", "peer_main", *link]]
    return build + [[*C, f"tools/{name}.c", *LIBRARY, "-o", name, *link] for name in TOOLS]


def judge(status, output, peers):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    begun = re.findall(r"^#+ (.*) EXPERIMENTS #+$", output, re.M)
    if begun != EXPERIMENTS or "EXPERIMENTS END" not in output:
        return f"experiments {begun}, expected {EXPERIMENTS}"
    failed = set(re.findall(r"(SCI\w+) failed: ", output)) - {"SCIClose"}
    if failed:
        return f"{sorted(failed)} failed"
    idle = re.findall(r"^(\$.*;0)$", output, re.M)
    return f"nothing was done in {idle}" if idle else ""


def run(folder, peers, table):
    with tempfile.TemporaryDirectory(prefix="fulmar-sisci-perf-") as name:
        work = pathlib.Path(name)
        ids = [FIRST_NODE * (rank + 1) for rank in range(peers + 1)]
        (work / "nodes").write_text("".join(f"{rank} {id} host-{id}\n" for rank, id in enumerate(ids)))
        # A peer serves until it gets a signal. The programs leave connections and segments (one experiment connects twice
        # and disconnects once), so their last call, SCIClose, is refused and their status is 1.
        end = "[ $? -le 1 ]"
        command = ["sh", "-c", f"{folder}/initiator_main {peers} {' '.join(map(str, ids[1:]))}; {end}; status=$?;"
                               " kill $(cat *.pid); exit $status"]
        for id in ids[1:]:
            serve = f"{folder}/peer_main {ids[0]} & echo $! > {id}.pid; wait $!; {end}"
            command += [":", "-n", "1", "sh", "-c", serve]
        environment = support.clean_environment(FULMAR_SISCI_NODES=work / "nodes")
        status, output, seconds = support.mpiexec(1, command, 240, environment, work)
    table.add(f"sisci-perf, {peers} peer(s)", judge(status, output, peers), seconds, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", type=int, nargs="+", default=[2])
    arguments = parser.parse_args()
    source = sources.folder("SISCI_PERF_SOURCE", "sisci-perf", "initiator/initiator_main.c")
    folder = sources.build("sisci_perf", source, commands())
    table = sources.Table()
    for peers in arguments.peers:
        run(folder, peers, table)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
