// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/study.h"
#include "fulmar/layers/verdicts.h"

namespace fulmar::layers {

namespace {

using Form = Figure::Form;

constexpr std::size_t short_limit = 4096;
constexpr std::size_t long_limit = std::size_t{4} << 20;

constexpr const char* mpich2 = "MPICH2 over InfiniBand";
constexpr const char* mvapich2 = "Layers of MVAPICH2";
constexpr const char* chemnitz = "MPICH2-CH3 device of Chemnitz";
constexpr const char* elan = "Open MPI over Quadrics/Elan4";
constexpr const char* rwapi = "RWAPI over InfiniBand";

std::string in(const char* paper, const char* where) { return std::string(paper) + ", " + where; }

std::vector<Curve> of(const char* test, const std::vector<std::string>& settings) {
  std::vector<Curve> curves;
  for (const std::string& setting : settings) {
    curves.push_back({setting, test, ""});
  }
  return curves;
}

std::vector<Figure> design_figures() {
  return {
      {"Latency of the basic design and with piggybacking", in(mpich2, "figures 4 and 6"),
       "Pointers that travel with the data bring short messages from 18.6 to 7.4 µs.",
       Form::microseconds, short_limit, of("latency", {"basic", "piggyback"}), judge_piggyback},
      {"Bandwidth of the basic design and of the pipeline", in(mpich2, "figures 5, 7 and 8"),
       "Copying chunk by chunk while others are on their way brings long messages from 230 to over "
       "500 MB/s.",
       Form::megabytes, long_limit, of("bandwidth", {"basic", "piggyback", "pipeline"}),
       judge_pipeline},
      {"Chunk sizes of the pipeline", in(mpich2, "figure 9"),
       "Chunks of 2 to 16 KiB do about the same; 1 and 32 KiB are worse.", Form::megabytes,
       long_limit, of("bandwidth", {"chunk1", "chunk2", "chunk4", "chunk8", "pipeline", "chunk32"}),
       judge_chunks},
      {"Bandwidth without copies", in(mpich2, "figure 11"),
       "Zero-copy reaches 857 of 870 MB/s, where the pipeline stays below 600 and falls for the "
       "longest messages.",
       Form::megabytes, long_limit, of("bandwidth", {"pipeline", "zerocopy"}), judge_zerocopy},
      {"What zero-copy costs short messages", in(mpich2, "section 5"),
       "The design for long messages makes short ones a little slower: 7.6 µs instead of 7.4.",
       Form::microseconds, short_limit, of("latency", {"piggyback", "zerocopy"}),
       judge_short_zerocopy},
      {"Reading and writing of long messages", in(mpich2, "figures 13 to 15"),
       "Writing is ahead of reading from 32 to 256 KiB, and equal elsewhere.", Form::megabytes,
       long_limit, of("bandwidth", {"zerocopy", "write"}), judge_write},
  };
}

std::vector<Figure> stack_figures() {
  std::vector<Curve> rows = of("latency", {"channel", "ch3", "adi3"});
  for (const char* test : {"ring", "random-ring"}) {
    for (const Curve& curve : of(test, {"channel", "ch3", "adi3"})) {
      rows.push_back(curve);
    }
  }
  return {
      {"Latency of the three stacks", in(mvapich2, "point-to-point"),
       "5.6 µs in the channel, 5.3 as CH3, 4.9 as ADI3: every layer that goes saves something.",
       Form::microseconds, short_limit, of("latency", {"channel", "ch3", "adi3"}),
       judge_stack_latency},
      {"Bandwidth of the three stacks", in(mvapich2, "point-to-point"),
       "CH3, with many long messages under way, moves 28 % more than the channel with one.",
       Form::megabytes, long_limit, of("bandwidth", {"channel", "ch3", "adi3"}),
       judge_stack_bandwidth},
      {"Rings of all ranks, 8 bytes", in(mvapich2, "HPCC latency"),
       "In rings, too, whether the order of the ranks is natural or random, CH3 is 7 % ahead of "
       "the channel, and ADI3 6 % ahead of CH3.",
       Form::rows, 8, rows, judge_rings},
      {"What the layers add to the bare ring", in(elan, "figure 9"),
       "What lies above the transport takes 0.5 µs of a short message's time; the transport itself "
       "is as fast as the bare network.",
       Form::microseconds, short_limit, of("latency", {"adi3"}), judge_layers},
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
       {{"default", "latency", "ping-pong"}, {"default", "burst", "burst"}},
       judge_burst},
      {"Two copies of ours, or one by the kernel", in(chemnitz, "figure 5"),
       "To reach into the program's memory costs more than two copies where its pages are looked "
       "up for each message anew, as for RDMA without a registration cache.",
       Form::megabytes, long_limit, of("latency", {"copied", "reached"}), judge_reached},
  };
}

std::vector<Figure> progress_figures() {
  return {
      {"Who looks for the end of a message, and how", in(elan, "table 1"),
       "4 bytes take 3.9 µs where the program polls, 14.7 where it sleeps until an interrupt, and "
       "22.8 where a thread sleeps for it and wakes it (27.5 with two threads, one a queue).",
       Form::microseconds, short_limit,
       of("latency", {"polls", "thread-aside", "sleeps", "thread-only"}), judge_progress},
  };
}

/// The first paper's figures once more, where its channel lay. Without an adapter there is nothing
/// to draw of these and the next.
std::vector<Figure> adapter_design_figures() {
  const std::vector<std::string> all{"verbs-basic", "verbs-piggyback", "verbs-pipeline",
                                     "verbs-zerocopy", "verbs-default"};
  return {
      {"Latency of the four designs over an adapter", in(mpich2, "figures 4, 6 and section 5"),
       "18.6 µs in the basic design, 7.4 with piggybacking, in the pipeline, too, and 7.6 without "
       "copies.",
       Form::microseconds, short_limit, of("latency", all), judge_adapter_latency},
      {"Bandwidth of the four designs over an adapter", in(mpich2, "figures 5, 8 and 11"),
       "230 MB/s in the basic design, over 500 in the pipeline, 857 without copies.",
       Form::megabytes, long_limit, of("bandwidth", all), judge_adapter_bandwidth},
      {"Zero-copy by reading and by writing over an adapter", in(mpich2, "figures 13 to 15"),
       "Writing is ahead of reading from 32 to 256 KiB, and equal elsewhere.", Form::megabytes,
       long_limit, of("bandwidth", {"verbs-zerocopy", "verbs-zerowrite"}), judge_adapter_write},
  };
}

std::vector<Figure> adapter_figures() {
  const std::vector<std::string> all{"verbs-packets", "verbs-unkept", "verbs-put"};
  return {
      {"Without RDMA, with it, and with kept registrations: ping-pong", in(chemnitz, "figure 5"),
       "RDMA loses about two thirds of the bandwidth if memory is registered for each message; "
       "with a registration cache it is ahead of packets.",
       Form::megabytes, long_limit, of("latency", all), judge_kept},
      {"Without RDMA, with it, and with kept registrations: both ways", in(chemnitz, "figure 6"),
       "Where both sides send at once RDMA without a cache loses even more.", Form::megabytes,
       long_limit, of("exchange", all), judge_kept_both_ways},
      {"Rendezvous by reading and by writing, with kept registrations and without",
       in(chemnitz, "figure 5") + "; " + in(mpich2, "section 5"),
       "Registrations are kept because registering costs more than moving the bytes, whichever "
       "side moves them.",
       Form::megabytes, long_limit,
       of("latency", {"verbs-fetch-unkept", "verbs-fetch", "verbs-unkept", "verbs-put"}),
       judge_kept_either_way},
      {"Reading and writing, announced from 1984 bytes on", in(elan, "figure 7"),
       "Reading is faster than writing, because it needs one control packet less; announcements "
       "without data are better for all lengths.",
       Form::microseconds, std::size_t{16} << 10, of("latency", {"verbs-read", "verbs-write"}),
       judge_read_first},
  };
}

}  // namespace

std::vector<Figure> figures() {
  std::vector<Figure> all;
  for (const auto& part : {design_figures(), stack_figures(), pattern_figures(), progress_figures(),
                           adapter_design_figures(), adapter_figures()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

}  // namespace fulmar::layers
