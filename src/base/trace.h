// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace fulmar::base {

/// What this process did last, and when: the begin and the end of calls and of stages of the
/// protocol, in a ring that is written round and round. Spans of one thread lie within each other,
/// so they make a tree.
///
/// Whoever may be traced holds a pointer to this, which is null while nothing is: then a span costs
/// a compare. With it a span costs two looks at the clock, some 50 ns (`cost_ns`), and no lock, no
/// allocation, no system call.
///
/// Thread rule: any thread at any time. A record that is being written while `take` looks may come
/// out as the one that was there before, or as a mixture of both.
class Trace {
 public:
  static constexpr std::uint32_t no_peer = UINT32_MAX;

  struct Record {
    std::uint64_t ns = 0;          ///< base::now_ns
    const char* name = nullptr;    ///< of what begins, for ever valid; null: the newest span ends
    std::uint64_t bytes = 0;       ///< that it is about
    std::uint64_t thread = 0;      ///< which one, as a number that means nothing else
    std::uint32_t peer = no_peer;  ///< with whom
  };

  /// Keeps the last `records` records, rounded up to a power of two.
  explicit Trace(std::size_t records);

  void begin(const char* name, std::uint32_t peer, std::uint64_t bytes) noexcept {
    add(name, peer, bytes);
  }
  void end() noexcept { add(nullptr, no_peer, 0); }

  /// What is in the ring, the oldest first, and how many older ones are gone.
  struct Taken {
    std::vector<Record> records;
    std::uint64_t lost = 0;
  };
  [[nodiscard]] Taken take() const;

  /// What an empty span takes on this machine, measured when this was made.
  [[nodiscard]] std::uint64_t cost_ns() const noexcept { return cost_ns_; }

 private:
  /// A place for a record.
  struct Slot {
    std::atomic<std::uint64_t> ns{0};
    std::atomic<const char*> name{nullptr};
    std::atomic<std::uint64_t> bytes{0};
    std::atomic<std::uint64_t> thread{0};
    std::atomic<std::uint32_t> peer{no_peer};
  };

  void add(const char* name, std::uint32_t peer, std::uint64_t bytes) noexcept;

  std::vector<Slot> ring_;
  std::atomic<std::uint64_t> next_{0};
  std::uint64_t cost_ns_ = 0;
};

/// A span of a scope; nothing where `trace` is null.
class TraceSpan {
 public:
  TraceSpan(Trace* trace, const char* name, std::uint32_t peer = Trace::no_peer,
            std::uint64_t bytes = 0) noexcept
      : trace_(trace) {
    if (trace_ != nullptr) [[unlikely]]
      trace_->begin(name, peer, bytes);
  }
  ~TraceSpan() {
    if (trace_ != nullptr) [[unlikely]]
      trace_->end();
  }
  TraceSpan(const TraceSpan&) = delete;
  TraceSpan& operator=(const TraceSpan&) = delete;

 private:
  Trace* trace_;
};

}  // namespace fulmar::base
