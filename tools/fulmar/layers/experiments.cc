// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/experiments.h"

#include "fulmar/layers/papers.h"

namespace fulmar::layers {

namespace {

constexpr const char* drawing = "a drawing of a design: nothing is measured in it";

std::vector<Experiment> of_mpich2() {
  return {
      {mpich2, "figures 1 to 3", "", drawing},
      {mpich2, "figure 4", "Latency of the basic design and with piggybacking"},
      {mpich2, "figure 5", "Bandwidth of the basic design and of the pipeline"},
      {mpich2, "figure 6", "Latency of the basic design and with piggybacking"},
      {mpich2, "figure 7", "Bandwidth of short messages with piggybacking"},
      {mpich2, "figure 8", "Bandwidth of the basic design and of the pipeline"},
      {mpich2, "figure 9", "Chunk sizes of the pipeline"},
      {mpich2, "figure 10", "", drawing},
      {mpich2, "figure 11", "Bandwidth without copies"},
      {mpich2, "section 5, latency without copies", "What zero-copy costs short messages"},
      {mpich2, "figure 12", "", drawing},
      {mpich2, "figure 13",
       "Latency of the three stacks; Latency of the three stacks over an adapter"},
      {mpich2, "figure 14",
       "Reading and writing of long messages; A CH3 device that writes beside a channel that "
       "reads"},
      {mpich2, "figure 15", "Bare reads and writes of an adapter"},
      {mpich2, "figures 16 and 17",
       "NAS Parallel Benchmarks on 4 ranks; NAS Parallel Benchmarks on 8 ranks"},
  };
}

std::vector<Experiment> of_mvapich2() {
  return {
      {mvapich2, "latency of the three layers", "Latency of the three stacks"},
      {mvapich2, "bandwidth of the three layers", "Bandwidth of the three stacks"},
      {mvapich2, "latency of MPI_Put",
       "MPI_Put and MPI_Win_flush, on a node; MPI_Put and MPI_Win_flush, over an adapter"},
      {mvapich2, "bandwidth of MPI_Put, with scheduling",
       "Puts of an epoch, over tcp; Puts of an epoch, over an adapter"},
      {mvapich2, "header caching", "",
       "headers are cached in the rings of verbs alone, and always (decision 0057)"},
      {mvapich2, "HPCC latency", "Pairs and rings of all ranks, 8 bytes"},
      {mvapich2, "NAS IS", "Integer sort of the NAS Parallel Benchmarks in the three stacks"},
      {mvapich2, "Gen2, latency", "Latency of the three stacks over an adapter"},
      {mvapich2, "Gen2, bidirectional bandwidth",
       "Bandwidth in both directions of the three stacks"},
      {mvapich2, "Gen2, MPI_Put latency", "MPI_Put and MPI_Win_flush, over an adapter"},
      {mvapich2, "Gen2, MPI_Get latency", "MPI_Get and MPI_Win_flush, on a node"},
  };
}

std::vector<Experiment> of_chemnitz() {
  return {
      {chemnitz, "part 1, VIA over SISCI", "",
       "it has no measured figure; what it aims at, VIPL nearly as fast as SISCI, is measured by "
       "fulmar bench "
       "vipl-latency and sisci-latency (docs/interfaces/measured.md)"},
      {chemnitz, "figures 1 to 4", "", drawing},
      {chemnitz, "figure 5", "Without RDMA, with it, and with kept registrations: ping-pong"},
      {chemnitz, "figure 6", "Without RDMA, with it, and with kept registrations: both ways"},
      {chemnitz, "figure 7", "PingPong in CH3 and in ADI3"},
      {chemnitz, "figure 8", "SendReceive in CH3 and in ADI3"},
      {chemnitz, "figure 9", "Allreduce in CH3 and in ADI3"},
      {chemnitz, "section 2.6, barrier of 2 nodes",
       "The calls of Pallas' benchmark in CH3 and in ADI3, 8 bytes"},
      {chemnitz, "section 2.6, barrier of 2, 4 and 6 nodes",
       "A barrier of two, four and six nodes"},
      {chemnitz, "section 2.4.1, from 32,000 bytes on",
       "The length from which messages are announced, on a node; The length from which an adapter "
       "moves messages"},
      {chemnitz, "section 2.4.1, write with immediate data", "",
       "the end of a put is a packet behind its last write (decision 0057)"},
  };
}

std::vector<Experiment> of_rwapi() {
  return {
      {rwapi, "figures 2.1 to 5.2", "", drawing},
      {rwapi, "figure 6.1", "", drawing},
      {rwapi, "figure 6.2", "",
       "service types of adapters: the network over verbs has reliable connections alone (decision "
       "0046), which the paper "
       "chooses as well, as all three perform about the same"},
      {rwapi, "figure 6.3, one-way, latency and throughput",
       "One after the other, and in a burst; One after the other, and in a burst over an adapter"},
      {rwapi, "figure 6.3, ping-pong",
       "One after the other, and in a burst; One after the other, and in a burst over an adapter"},
      {rwapi, "figure 6.3, both ways",
       "Both directions at once; Both directions at once over an adapter"},
  };
}

std::vector<Experiment> of_elan() {
  return {
      {elan, "figures 1 to 6", "", drawing},
      {elan, "sections 2.2 and 4.1, joining and disjoining",
       "A rank joins a running exchange and leaves it"},
      {elan, "figure 7(a), datatypes", "What a derived datatype costs"},
      {elan, "figure 7(b), read and write", "Reading and writing, announced from 1984 bytes on"},
      {elan, "figure 7, inlined data", "Announcements with 1984 bytes inlined, and without data"},
      {elan, "figure 8, chained", "The end chained to the last write, and apart"},
      {elan, "figure 8, shared queue", "One queue of what has ended, or two"},
      {elan, "section 3, FIN_ACK chained to the last read", "",
       "an adapter of today fences a packet behind reads by stopping its queue (decision 0057): "
       "the "
       "end of a read is waited for"},
      {elan, "figure 9",
       "What the layers add to the bare ring; What the layers add to the bare adapter"},
      {elan, "table 1, basic, interrupt, one thread",
       "Who looks for the end of a message, and how; Who looks for the end of a message over an "
       "adapter"},
      {elan, "table 1, two threads", "One thread for all queues, or two"},
      {elan, "figure 10", "",
       "another library on the same network: bench/compare draws Fulmar beside those that are "
       "installed"},
  };
}

}  // namespace

std::vector<Experiment> experiments() {
  std::vector<Experiment> all;
  for (const auto& part : {of_mpich2(), of_mvapich2(), of_chemnitz(), of_rwapi(), of_elan()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace fulmar::layers
