// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "mpiexec/clock.h"

namespace fulmar::mpiexec {

/// Joins the output of many ranks into one text in which every line comes from one rank.
///
/// Complete lines go out as they come. The last, incomplete line of a stream waits for its end; it
/// goes out early when the stream ends, when it grows past `line_bytes`, or when nothing followed
/// for `patience_ns` (a prompt). From then on that stream *holds* the output: other streams wait
/// until the line is ended, or until the holder has ended or has been silent for `patience_ns`;
/// then a newline is put in between. A stream that waits takes at most about `stream_bytes`, then
/// `accepts` is false, and its rank gets the back-pressure of its pipe.
///
/// Knows no descriptors and no clock: time is passed in. One thread.
class LineMux {
 public:
  struct Limits {
    std::int64_t patience_ns = 50 * ns_per_ms;
    std::size_t line_bytes = 64 << 10;
    std::size_t stream_bytes = 128 << 10;
    std::string (*stamp)() = nullptr;  ///< makes what stands before the label of each line
  };

  /// `labels`: one per stream, put before each of its lines.
  LineMux(std::vector<std::string> labels, Limits limits);

  /// Requires stream < number of labels, here and below.
  void append(std::size_t stream, std::string_view bytes, std::int64_t now_ns);
  /// No more will come from this stream.
  void close(std::size_t stream);
  [[nodiscard]] bool accepts(std::size_t stream) const;
  /// Whether the owner reads a stream. That nothing comes of a stream that is not read is no silence of its
  /// rank, so the begin of its line waits for the end. A holder that waits for others counts as silent all the
  /// same: the others may wait for it here, while it waits for them at another LineMux.
  enum class Pause : std::uint8_t { none, by_reader, by_others };
  void set_pause(std::size_t stream, Pause pause, std::int64_t now_ns);

  /// When `tick` has something to do next; never_ns when only input can change anything.
  [[nodiscard]] std::int64_t deadline() const;
  void tick(std::int64_t now_ns);

  /// What is to be written now; the owner removes what it has written.
  [[nodiscard]] std::string& ready() { return ready_; }
  [[nodiscard]] const std::string& ready() const { return ready_; }

 private:
  struct Stream {
    std::string label;
    std::string pending;
    std::int64_t last_input_ns = 0;
    bool closed = false;
    bool queued = false;
    Pause pause = Pause::none;
  };
  static constexpr std::size_t nobody = SIZE_MAX;

  [[nodiscard]] std::int64_t silent_from(std::size_t stream) const;
  bool may_write(std::size_t stream);
  void advance(std::size_t stream);
  void write(std::size_t stream, std::size_t bytes);
  void write_labelled(const Stream& stream, std::string_view text, bool line_start);
  void end_held_line();
  void serve_waiting();
  [[nodiscard]] std::size_t writable_bytes(const Stream& stream) const;

  Limits limits_;
  std::vector<Stream> streams_;
  std::deque<std::size_t>
      waiting_;                  ///< streams that have something to write and found another holder
  std::size_t holder_ = nobody;  ///< whose incomplete line is the last thing written
  std::size_t pending_streams_ = 0;  ///< streams with pending bytes
  std::string ready_;
};

}  // namespace fulmar::mpiexec
