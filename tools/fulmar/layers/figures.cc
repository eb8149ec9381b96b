// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <utility>

#include "fulmar/layers/papers.h"
#include "fulmar/layers/verdicts.h"

namespace fulmar::layers {

namespace {

constexpr std::size_t mib_bytes = std::size_t{1} << 20;

std::vector<Figure> design_figures() {
  return {
      {"Latency of the basic design and with piggybacking",
       in(mpich2, "figures 4 and 6"),
       "Pointers that travel with the data bring short messages from 18.6 to 7.4 µs.",
       Form::microseconds,
       short_limit,
       of("latency", {"basic", "piggyback"}),
       judge_piggyback,
       {{"basic", 8, 18.6}, {"with piggybacking", 8, 7.4}}},
      {"Bandwidth of short messages with piggybacking", in(mpich2, "figure 7"),
       "Pointers that travel with the data bring more bandwidth for short messages, too.",
       Form::megabytes, short_limit, of("bandwidth", {"basic", "piggyback"}),
       judge_short_bandwidth},
      {"Bandwidth of the basic design and of the pipeline",
       in(mpich2, "figures 5 and 8"),
       "Copying chunk by chunk while others are on their way brings long messages from 230 to over "
       "500 MB/s.",
       Form::megabytes,
       long_limit,
       of("bandwidth", {"basic", "piggyback", "pipeline"}),
       judge_pipeline,
       {{"basic", mib_bytes, 230}, {"pipeline", mib_bytes, 500}}},
      {"Chunk sizes of the pipeline", in(mpich2, "figure 9"),
       "Chunks of 2 to 16 KiB do about the same; 1 and 32 KiB are worse.", Form::megabytes,
       long_limit, of("bandwidth", {"chunk1", "chunk2", "chunk4", "chunk8", "pipeline", "chunk32"}),
       judge_chunks},
      {"Bandwidth without copies",
       in(mpich2, "figure 11"),
       "Zero-copy reaches 857 of 870 MB/s, where the pipeline stays below 600 and falls for the "
       "longest messages.",
       Form::megabytes,
       long_limit,
       of("bandwidth", {"pipeline", "zerocopy"}),
       judge_zerocopy,
       {{"without copies", mib_bytes, 857}, {"bare adapter", mib_bytes, 870}}},
      {"What zero-copy costs short messages",
       in(mpich2, "section 5"),
       "The design for long messages makes short ones a little slower: 7.6 µs instead of 7.4.",
       Form::microseconds,
       short_limit,
       of("latency", {"piggyback", "zerocopy"}),
       judge_short_zerocopy,
       {{"piggyback", 8, 7.4}, {"without copies", 8, 7.6}}},
      {"Reading and writing of long messages", in(mpich2, "figures 13 to 15"),
       "Writing is ahead of reading from 32 to 256 KiB, and equal elsewhere.", Form::megabytes,
       long_limit, of("bandwidth", {"zerocopy", "write"}), judge_write},
  };
}

const std::vector<std::string> stacks{"channel", "ch3", "adi3"};

/// The latencies that HPC Challenge reports.
std::vector<Curve> hpcc_rows() {
  using Of = Curve::Of;
  std::vector<Curve> rows;
  for (const auto& [name, figure] :
       {std::pair{"fastest pair", Of::low}, std::pair{"mean of all pairs", Of::median},
        std::pair{"slowest pair", Of::high}}) {
    for (const std::string& setting : stacks) {
      rows.push_back({setting, "pairs", "", name, figure});
    }
  }
  for (const char* test : {"ring", "random-ring"}) {
    const std::vector<Curve> ring = of(test, stacks);
    rows.insert(rows.end(), ring.begin(), ring.end());
  }
  return rows;
}

std::vector<Figure> stack_figures() {
  return {
      {"Latency of the three stacks",
       in(mvapich2, "point-to-point"),
       "5.6 µs in the channel, 5.3 as CH3, 4.9 as ADI3: every layer that goes saves something.",
       Form::microseconds,
       short_limit,
       of("latency", stacks),
       judge_stack_latency,
       {{"channel", 8, 5.6}, {"CH3", 8, 5.3}, {"ADI3", 8, 4.9}}},
      {"Bandwidth of the three stacks", in(mvapich2, "point-to-point"),
       "CH3, with many long messages under way, moves 28 % more than the channel with one.",
       Form::megabytes, long_limit, of("bandwidth", stacks), judge_stack_bandwidth},
      {"Bandwidth in both directions of the three stacks",
       in(mvapich2, "Gen2, bidirectional bandwidth"),
       "The slides draw the bandwidth of both directions together.", Form::megabytes, long_limit,
       of("bibw", stacks), judge_stack_both_ways},
      {"Pairs and rings of all ranks, 8 bytes", in(mvapich2, "HPCC latency"),
       "Between pairs of ranks and in rings, too, whether their order is natural or random, CH3 is "
       "7 % ahead of the channel, and ADI3 6 % ahead of CH3.",
       Form::rows, 8, hpcc_rows(), judge_rings},
      {"What the layers add to the bare ring", in(elan, "figure 9"),
       "What lies above the transport takes 0.5 µs of a short message's time; the transport itself "
       "is as fast as the bare network.",
       Form::microseconds, short_limit, of("latency", {"adi3"}), judge_layers},
  };
}

constexpr const char* found_calls =
    "The paper draws its CH3 device beside a library that sits lower; here that is ADI3.";

/// The paper shows another library beside its device; here it is another stack of this one.
std::vector<Figure> call_figures() {
  struct Row {
    const char* name;
    const char* test;
    Curve::Team team = Curve::Team::smallest;
  };
  std::vector<Curve> rows;
  const auto curves = [](const char* test, int operations) {
    std::vector<Curve> both = of(test, {"ch3", "adi3"});
    for (Curve& curve : both) curve.operations = operations;
    return both;
  };
  for (const Row& row : {Row{"ping-pong", "latency"}, Row{"send and receive", "exchange"},
                         Row{"allreduce", "allreduce"}, Row{"barrier, two ranks", "barrier"},
                         Row{"barrier, all ranks", "barrier", Curve::Team::largest}}) {
    for (const char* setting : {"ch3", "adi3"}) {
      rows.push_back({setting, row.test, "", row.name, Curve::Of::median, row.team,
                      row.test == std::string("exchange") ? 2 : 1});
    }
  }
  return {
      {"The calls of Pallas' benchmark in CH3 and in ADI3, 8 bytes",
       in(chemnitz, "figures 7 to 9 and section 2.6"),
       "The CH3 device was ahead of a library that sits lower: a barrier took 10.4 µs against 11.1 "
       "on two nodes, 30.8 against 37.8 on six.",
       Form::rows, 8, rows, judge_calls},
      {"PingPong in CH3 and in ADI3", in(chemnitz, "figure 7"), found_calls, Form::calls, mib_bytes,
       curves("latency", 1), judge_ping_pong},
      {"SendReceive in CH3 and in ADI3", in(chemnitz, "figure 8"), found_calls, Form::calls,
       mib_bytes, curves("exchange", 2), judge_send_receive},
      {"Allreduce in CH3 and in ADI3", in(chemnitz, "figure 9"), found_calls, Form::calls,
       mib_bytes, curves("allreduce", 1), judge_allreduce},
      {"What a derived datatype costs",
       in(elan, "figure 7"),
       "The component that knows datatypes adds 0.4 µs to a message, even where the data are one "
       "run of memory.",
       Form::microseconds,
       short_limit,
       {{"default", "latency", "bytes"}, {"default", "typed", "one element of a derived type"}},
       judge_types},
  };
}

std::vector<Figure> pattern_figures() {
  return {
      {"Both directions at once",
       in(rwapi, "figure 6.3, bidirectional ping-pong"),
       "Two messages in opposite directions move more together than one.",
       Form::megabytes,
       long_limit,
       {{"default", "latency", "ping-pong"}, {"default", "exchange", "both ways at once"}},
       judge_both_ways},
      {"One after the other, and in a burst",
       in(rwapi, "figure 6.3, ping-pong and burst"),
       "MPI reaches its peak with several hundred KiB only, and falls back between 1 and 2 KiB; "
       "RWAPI has it from 4 KiB on.",
       Form::megabytes,
       long_limit,
       {{"default", "latency", "ping-pong"},
        {"default", "burst", "burst"},
        {"rwapi", "rwapi-latency", "ping-pong by RWAPI"},
        {"rwapi", "rwapi-burst", "burst by RWAPI"}},
       judge_burst},
      {"Two copies of ours, or one by the kernel", in(chemnitz, "figure 5"),
       "To reach into the program's memory costs more than two copies where its pages are looked "
       "up for each message anew, as for RDMA without a registration cache.",
       Form::megabytes, long_limit, of("latency", {"copied", "reached"}), judge_reached},
  };
}

std::vector<Figure> progress_figures() {
  return {
      {"Who looks for the end of a message, and how",
       in(elan, "table 1"),
       "4 bytes take 3.9 µs where the program polls, 14.7 where it sleeps until an interrupt, and "
       "22.8 where a thread sleeps for it and wakes it.",
       Form::microseconds,
       short_limit,
       of("latency", {"polls", "thread-aside", "sleeps", "thread-only"}),
       judge_progress,
       {{"polls", 4, 3.87},
        {"sleeps", 4, 14.7},
        {"thread", 4, 22.76},
        {"polls", 4096, 15.25},
        {"sleeps", 4096, 27.16},
        {"thread", 4096, 32.8}}},
  };
}

}  // namespace

std::vector<Figure> figures() {
  return joined({design_figures(), stack_figures(), call_figures(), pattern_figures(),
                 progress_figures(), joining_figures(), adapter_figures(), one_sided_figures(),
                 length_figures(), application_figures()});
}

}  // namespace fulmar::layers
