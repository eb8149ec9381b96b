// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fulmar/layers/papers.h"
#include "fulmar/layers/verdicts.h"

/// What is measured over an RDMA adapter. Without one there is nothing to draw of it.
namespace fulmar::layers {

namespace {

/// The first two papers' figures once more, where their channels lay.
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
      {"Bare reads and writes of an adapter",
       in(mpich2, "figure 15"),
       "For 32 to 256 KiB that adapter writes faster than it reads, whatever is built on it.",
       Form::megabytes,
       long_limit,
       {{"raw-verbs", "raw-verbs-read", "RDMA reads"},
        {"raw-verbs", "raw-verbs-write", "RDMA writes"}},
       judge_raw_write},
      {"Zero-copy by reading and by writing over an adapter", in(mpich2, "figures 13 to 15"),
       "Writing is ahead of reading from 32 to 256 KiB, and equal elsewhere.", Form::megabytes,
       long_limit, of("bandwidth", {"verbs-zerocopy", "verbs-zerowrite"}), judge_adapter_write},
  };
}

std::vector<Figure> adapter_stack_figures() {
  const std::vector<Curve> latency{{"verbs-zerocopy", "latency", "channel"},
                                   {"verbs-ch3", "latency", "CH3"},
                                   {"verbs-default", "latency", "ADI3"}};
  const std::vector<Curve> bandwidth{{"verbs-zerocopy", "bandwidth", "channel"},
                                     {"verbs-ch3", "bandwidth", "CH3"},
                                     {"verbs-default", "bandwidth", "ADI3"}};
  return {
      {"A CH3 device that writes beside a channel that reads",
       in(mpich2, "figures 13 and 14"),
       "The two do about the same; from 32 to 256 KiB the CH3 device is ahead, because that "
       "adapter "
       "wrote faster than it read.",
       Form::megabytes,
       long_limit,
       {bandwidth[0], bandwidth[1]},
       judge_adapter_ch3},
      {"Latency of the three stacks over an adapter",
       in(mvapich2, "point-to-point") + "; " + in(mpich2, "figure 13"),
       "5.6 µs in the channel, 5.3 as CH3, 4.9 as ADI3: every layer that goes saves something.",
       Form::microseconds, short_limit, latency, judge_adapter_stack_latency},
      {"Bandwidth of the three stacks over an adapter", in(mvapich2, "point-to-point"),
       "CH3, with many long messages under way, moves 28 % more than the channel with one.",
       Form::megabytes, long_limit, bandwidth, judge_adapter_stack_bandwidth},
  };
}

std::vector<Figure> kept_figures() {
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
  };
}

std::vector<Figure> announcement_figures() {
  constexpr std::size_t limit = std::size_t{16} << 10;
  return {
      {"Reading and writing, announced from 1984 bytes on", in(elan, "figure 7"),
       "Reading is faster than writing, because it needs one control packet less.",
       Form::microseconds, limit, of("latency", {"verbs-read", "verbs-write"}), judge_read_first},
      {"Announcements with 1984 bytes inlined, and without data", in(elan, "figure 7"),
       "Announcements without data are better for all lengths, by reading and by writing: what is "
       "inlined is copied.",
       Form::microseconds, limit,
       of("latency", {"verbs-read", "verbs-read-inlined", "verbs-write", "verbs-write-inlined"}),
       judge_inlined},
      {"The end chained to the last write, and apart", in(elan, "figure 8"),
       "To chain the end of a message to its data gains little time for long messages, but spares "
       "the processor a turn.",
       Form::microseconds, limit, of("latency", {"verbs-write", "verbs-write-apart"}),
       judge_chained},
      {"What the layers add to the bare adapter", in(elan, "figure 9"),
       "What lies above the transport takes 0.5 µs of a short message's time; the transport itself "
       "is as fast as the bare network.",
       Form::microseconds, short_limit, of("latency", {"verbs-default"}), judge_adapter_layers},
      {"One queue of what has ended, or two", in(elan, "figure 8"),
       "A shared completion queue costs a little; whether it is that of the messages, too, or one "
       "of "
       "its own makes no noticeable difference.",
       Form::microseconds, limit, of("latency", {"verbs-read", "verbs-two-queues"}), judge_queues},
      {"Who looks for the end of a message over an adapter", in(elan, "table 1"),
       "4 KiB by RDMA read take 15.3 µs where the program polls, 27.2 where it sleeps until an "
       "interrupt, and 32.8 where a thread sleeps for it and wakes it.",
       Form::microseconds, short_limit,
       of("latency", {"verbs-polls", "verbs-thread-aside", "verbs-sleeps", "verbs-thread-only"}),
       judge_adapter_progress},
      {"One thread for all queues, or two", in(elan, "table 1"),
       "Two threads, one for the queue of messages and one for that of local completions, cost "
       "more than one for both: 27.5 µs against 22.8 for 4 bytes, 47.7 against 32.8 for 4 KiB.",
       Form::microseconds, short_limit,
       of("latency", {"verbs-polls", "verbs-sleeps", "verbs-thread-only", "verbs-thread-two"}),
       judge_two_threads},
  };
}

std::vector<Figure> adapter_pattern_figures() {
  return {
      {"Both directions at once over an adapter",
       in(rwapi, "figure 6.3, bidirectional ping-pong"),
       "Two messages in opposite directions move more together than one.",
       Form::megabytes,
       long_limit,
       {{"verbs-default", "latency", "ping-pong"},
        {"verbs-default", "exchange", "both ways at once"}},
       judge_adapter_both_ways},
      {"One after the other, and in a burst over an adapter",
       in(rwapi, "figure 6.3, ping-pong and burst"),
       "MPI reaches its peak with several hundred KiB only, and falls back between 1 and 2 KiB; "
       "RWAPI has it from 4 KiB on.",
       Form::megabytes,
       long_limit,
       {{"verbs-default", "latency", "ping-pong"},
        {"verbs-default", "burst", "burst"},
        {"verbs-rwapi", "rwapi-latency", "ping-pong by RWAPI"},
        {"verbs-rwapi", "rwapi-burst", "burst by RWAPI"}},
       judge_adapter_burst},
  };
}

}  // namespace

std::vector<Figure> adapter_figures() {
  return joined({adapter_design_figures(), adapter_stack_figures(), kept_figures(),
                 announcement_figures(), adapter_pattern_figures()});
}

}  // namespace fulmar::layers
