// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "fulmar/layers/study.h"

/// Whether what a paper found holds on this machine: each is computed from the figures, and says
/// them. Differences of less than 3 % count as none.
namespace fulmar::layers {

Verdict judge_piggyback(const Measured& measured);
Verdict judge_short_bandwidth(const Measured& measured);
Verdict judge_pipeline(const Measured& measured);
Verdict judge_chunks(const Measured& measured);
Verdict judge_zerocopy(const Measured& measured);
Verdict judge_short_zerocopy(const Measured& measured);
Verdict judge_write(const Measured& measured);
Verdict judge_stack_latency(const Measured& measured);
Verdict judge_stack_bandwidth(const Measured& measured);

// pattern_verdicts.cc
Verdict judge_rings(const Measured& measured);
Verdict judge_calls(const Measured& measured);
Verdict judge_ping_pong(const Measured& measured);
Verdict judge_send_receive(const Measured& measured);
Verdict judge_allreduce(const Measured& measured);
Verdict judge_stack_both_ways(const Measured& measured);
Verdict judge_layers(const Measured& measured);
Verdict judge_both_ways(const Measured& measured);
Verdict judge_burst(const Measured& measured);
Verdict judge_reached(const Measured& measured);
Verdict judge_kept(const Measured& measured);
Verdict judge_kept_both_ways(const Measured& measured);

// adapter_verdicts.cc
Verdict judge_adapter_latency(const Measured& measured);
Verdict judge_adapter_bandwidth(const Measured& measured);
Verdict judge_adapter_write(const Measured& measured);
Verdict judge_raw_write(const Measured& measured);
Verdict judge_adapter_ch3(const Measured& measured);
Verdict judge_adapter_stack_latency(const Measured& measured);
Verdict judge_adapter_stack_bandwidth(const Measured& measured);
Verdict judge_adapter_layers(const Measured& measured);
Verdict judge_adapter_both_ways(const Measured& measured);
Verdict judge_adapter_burst(const Measured& measured);
Verdict judge_kept_either_way(const Measured& measured);

// application_figures.cc
Verdict judge_few_applications(const Measured& measured);
Verdict judge_many_applications(const Measured& measured);
Verdict judge_integer_sort(const Measured& measured);

// progress_verdict.cc
Verdict judge_progress(const Measured& measured);
Verdict judge_adapter_progress(const Measured& measured);
Verdict judge_two_threads(const Measured& measured);

// joining_figures.cc
Verdict judge_joining(const Measured& measured);

// announcement_verdicts.cc
Verdict judge_types(const Measured& measured);
Verdict judge_read_first(const Measured& measured);
Verdict judge_inlined(const Measured& measured);
Verdict judge_queues(const Measured& measured);
Verdict judge_chained(const Measured& measured);

}  // namespace fulmar::layers
