// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Prints the rate of this machine's time-stamp counter in kHz. An emulated guest has the same
// counter. Left to measure its rate by itself while the host is busy, it may get it wrong by a
// factor, and all its time limits with it.
#include <stdio.h>
#include <time.h>
#include <x86intrin.h>

enum { readings = 200, pause_ns = 200000000 };

/// The same moment on both clocks: the least disturbed of many readings.
struct Moment {
  double ns;
  double ticks;
};

static double ns_of(const struct timespec* time) {
  return (double)time->tv_sec * 1e9 + (double)time->tv_nsec;
}

static struct Moment read_both(void) {
  struct Moment best = {0, 0};
  double least_ns = 1e18;
  for (int i = 0; i < readings; ++i) {
    struct timespec before;
    struct timespec after;
    clock_gettime(CLOCK_MONOTONIC_RAW, &before);
    const double ticks = (double)__rdtsc();
    clock_gettime(CLOCK_MONOTONIC_RAW, &after);
    const double took_ns = ns_of(&after) - ns_of(&before);
    if (took_ns < least_ns) {
      least_ns = took_ns;
      best.ns = (ns_of(&before) + ns_of(&after)) / 2;
      best.ticks = ticks;
    }
  }
  return best;
}

int main(void) {
  const struct timespec pause = {0, pause_ns};
  const struct Moment first = read_both();
  nanosleep(&pause, 0);
  const struct Moment second = read_both();
  printf("%.0f\n", (second.ticks - first.ticks) / (second.ns - first.ns) * 1e6);
  return 0;
}
