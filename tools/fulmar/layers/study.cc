// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/study.h"

#include "fulmar/layers/verdicts.h"

namespace fulmar::layers {

namespace {

constexpr std::size_t short_limit = 4096;
constexpr std::size_t long_limit = std::size_t{4} << 20;

Setting chunk_setting(const std::string& kib) {
  return {"chunk" + kib,
          "chunks of " + kib + " KiB",
          {{"FULMAR_CHANNEL", "pipeline"}, {"FULMAR_CHUNK_BYTES", kib + "K"}},
          true};
}

}  // namespace

std::vector<Setting> settings() {
  return {
      {"basic", "basic", {{"FULMAR_CHANNEL", "basic"}}},
      {"piggyback", "piggyback", {{"FULMAR_CHANNEL", "piggyback"}}},
      {"pipeline", "pipeline", {{"FULMAR_CHANNEL", "pipeline"}}},
      {"zerocopy", "zero-copy by read", {{"FULMAR_CHANNEL", "zerocopy"}}},
      {"write", "zero-copy by write", {{"FULMAR_CHANNEL", "zerocopy"}, {"FULMAR_RDMA", "put"}}},
      chunk_setting("1"),
      chunk_setting("2"),
      chunk_setting("4"),
      chunk_setting("8"),
      chunk_setting("32"),
      {"channel", "channel", {{"FULMAR_STACK", "channel"}}},
      {"ch3", "CH3", {{"FULMAR_STACK", "ch3"}}},
      {"adi3", "ADI3 (the default)", {{"FULMAR_STACK", "adi3"}}},
  };
}

std::vector<Figure> figures() {
  return {
      {"Latency of the basic design and with piggybacking",
       "MPICH2 over InfiniBand, figures 4 and 6",
       "Pointers that travel with the data bring short messages from 18.6 to 7.4 µs.",
       "latency",
       short_limit,
       {"basic", "piggyback"},
       judge_piggyback},
      {"Bandwidth of the basic design and of the pipeline",
       "MPICH2 over InfiniBand, figures 5, 7 and 8",
       "Copying chunk by chunk while others are on their way brings long messages from 230 to over "
       "500 MB/s.",
       "bandwidth",
       long_limit,
       {"basic", "piggyback", "pipeline"},
       judge_pipeline},
      {"Chunk sizes of the pipeline",
       "MPICH2 over InfiniBand, figure 9",
       "Chunks of 2 to 16 KiB do about the same; 1 and 32 KiB are worse.",
       "bandwidth",
       long_limit,
       {"chunk1", "chunk2", "chunk4", "chunk8", "pipeline", "chunk32"},
       judge_chunks},
      {"Bandwidth without copies",
       "MPICH2 over InfiniBand, figure 11",
       "Zero-copy reaches 857 of 870 MB/s, where the pipeline stays below 600 and falls for the "
       "longest messages.",
       "bandwidth",
       long_limit,
       {"pipeline", "zerocopy"},
       judge_zerocopy},
      {"What zero-copy costs short messages",
       "MPICH2 over InfiniBand, section 5",
       "The design for long messages makes short ones a little slower: 7.6 µs instead of 7.4.",
       "latency",
       short_limit,
       {"piggyback", "zerocopy"},
       judge_short_zerocopy},
      {"Reading and writing of long messages",
       "MPICH2 over InfiniBand, figures 13 to 15",
       "Writing is ahead of reading from 32 to 256 KiB, and equal elsewhere.",
       "bandwidth",
       long_limit,
       {"zerocopy", "write"},
       judge_write},
      {"Latency of the three stacks",
       "Layers of MVAPICH2, point-to-point",
       "5.6 µs in the channel, 5.3 as CH3, 4.9 as ADI3: every layer that goes saves something.",
       "latency",
       short_limit,
       {"channel", "ch3", "adi3"},
       judge_stack_latency},
      {"Bandwidth of the three stacks",
       "Layers of MVAPICH2, point-to-point",
       "CH3, with many long messages under way, moves 28 % more than the channel with one.",
       "bandwidth",
       long_limit,
       {"channel", "ch3", "adi3"},
       judge_stack_bandwidth},
      {"Both directions at once",
       "RWAPI, bidirectional ping-pong",
       "Two streams in opposite directions move more together than one.",
       "bibw",
       long_limit,
       {"pipeline", "zerocopy", "adi3"},
       judge_both_ways},
  };
}

std::vector<CountedSize> counted_sizes() {
  return {{8, "A message of 8 bytes"}, {std::size_t{1} << 20, "A message of 1 MiB"}};
}

}  // namespace fulmar::layers
