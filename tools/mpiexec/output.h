// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "mpiexec/line_mux.h"
#include "mpiexec/poller.h"
#include "mpiexec/sink.h"

namespace fulmar::mpiexec {

/// The way of the ranks' stdout and stderr to mpiexec's own, line by line (line_mux.h), and of
/// mpiexec's own messages. A slow reader holds the ranks back through their pipes; mpiexec never
/// stores more than some 100 KiB per stream and never blocks.
class Output {
 public:
  enum class Labels { none, ranks };

  /// Writes to descriptors 1 and 2. `poller` must outlive this.
  Output(Poller& poller, std::uint32_t ranks, Labels labels);

  /// What a rank is to have as descriptors 1 and 2; closed here after the start.
  struct RankEnds {
    base::UniqueFd out;
    base::UniqueFd err;  ///< none: the same as `out`
    [[nodiscard]] int out_fd() const { return out.valid() ? out.get() : 1; }
    [[nodiscard]] int err_fd() const {
      return err.valid() ? err.get() : out.valid() ? out.get() : 2;
    }
  };
  /// Makes the pipes of one rank. A job of one rank without labels needs none: it writes to
  /// mpiexec's own descriptors. Fails (other) when descriptors run out.
  base::Result<RankEnds> connect_rank(std::uint32_t rank);

  /// Puts a line of mpiexec's own on stderr; a newline is added.
  void say(std::string_view line);

  void on_stream(std::uint32_t index);
  void on_sink(std::uint32_t index);
  [[nodiscard]] std::int64_t deadline() const;
  void on_time(std::int64_t now_ns);

  /// All writers are dead: takes what is left in the pipes, without waiting for ends that an
  /// escaped process may hold open. Back-pressure is kept: call again until finished().
  void finish();
  /// Everything has been written, or cannot be.
  [[nodiscard]] bool finished() const;
  /// Something of the ranks' output could not be written for another reason than a reader that
  /// left.
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  struct Stream {
    base::UniqueFd fd;
    std::uint32_t channel = 0;
    std::uint32_t rank = 0;
    bool paused = false;
  };
  /// One destination with everything that goes there.
  struct Channel {
    Sink sink;
    LineMux mux;
    bool blocked = false;
    bool broken = false;
  };

  base::Result<base::UniqueFd> open_stream(std::uint32_t rank, std::uint32_t channel);
  void read_stream(std::uint32_t index);
  void drop_stream(Stream& stream);
  void end_stream(Stream& stream);
  void update_interest(std::uint32_t index);
  void flush(std::uint32_t channel);
  void break_channel(std::uint32_t channel);
  [[nodiscard]] bool full(const Channel& channel) const;

  Poller& poller_;
  std::uint32_t ranks_;
  bool direct_;
  bool finishing_ = false;
  bool lost_ = false;
  std::vector<Channel> channels_;  ///< stdout, stderr; only one when both lead to the same place
  std::vector<Stream> streams_;
  std::uint32_t paused_count_ = 0;
  std::vector<char> buffer_;
};

}  // namespace fulmar::mpiexec
