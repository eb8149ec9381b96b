// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "mpiexec/line_mux.h"
#include "mpiexec/options.h"
#include "mpiexec/poller.h"
#include "mpiexec/sink.h"

namespace fulmar::mpiexec {

/// The way of the ranks' stdout and stderr to mpiexec's own, or to files, line by line
/// (line_mux.h), and of mpiexec's own messages. A slow reader holds the ranks back through their
/// pipes; mpiexec never stores more than some 100 KiB per stream and never blocks.
class Output {
 public:
  /// What the user wants of the ranks' output.
  struct Wishes {
    std::string label_pattern;  ///< before each line (rank_pattern.h); empty: nothing
    bool timestamps = false;
    bool merge_stderr = false;  ///< stderr goes where stdout goes
    OutputFiles files;
    std::string host;       ///< of this machine, for patterns
    std::uint32_t job = 0;  ///< above 0: lines of mpiexec's own name this spawned job
  };

  /// Writes to descriptors 1 and 2. `poller` must outlive this.
  Output(Poller& poller, std::uint32_t ranks, Wishes wishes);

  /// Makes the files and their folders. Call once, before `connect_rank`. Fails (other) with the
  /// name of the file that cannot be made.
  [[nodiscard]] base::Error open_files();

  /// What a rank is to have as descriptors 1 and 2; closed here after the start.
  struct RankEnds {
    base::UniqueFd out;
    base::UniqueFd err;  ///< none: the same as `out`
    [[nodiscard]] int out_fd() const { return out.valid() ? out.get() : 1; }
    [[nodiscard]] int err_fd() const {
      return err.valid() ? err.get() : out.valid() ? out.get() : 2;
    }
  };
  /// Makes the pipes of one rank. A job of one rank whose output is not changed or copied needs
  /// none: it writes to mpiexec's own descriptors. Fails (other) when descriptors run out.
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
  /// A stream's place in a channel.
  struct Lane {
    std::uint32_t channel = 0;
    std::uint32_t number = 0;  ///< among the streams that the channel's LineMux joins
  };
  struct Stream {
    base::UniqueFd fd;
    std::vector<Lane> lanes;
    LineMux::Pause pause = LineMux::Pause::none;
  };
  /// One destination with everything that goes there.
  struct Channel {
    std::string file;  ///< its name; empty: stdout or stderr of mpiexec
    base::UniqueFd owned;
    Sink sink;
    LineMux mux;
    bool blocked = false;
    bool broken = false;
  };
  enum class Which : std::uint8_t { out, err };

  [[nodiscard]] std::string label_of(std::uint32_t rank) const;
  [[nodiscard]] LineMux::Limits limits_for(int fd, std::uint32_t ranks) const;
  [[nodiscard]] bool has_files() const;
  [[nodiscard]] std::string file_of(std::uint32_t rank, Which which) const;
  [[nodiscard]] std::vector<Lane> console_lanes(std::uint32_t rank, Which which) const;
  base::Error open_file(const std::string& name, std::vector<std::string> labels);
  base::Result<base::UniqueFd> open_stream(std::uint32_t rank, Which which);
  void read_stream(std::uint32_t index);
  void drop_stream(Stream& stream);
  void end_stream(Stream& stream);
  [[nodiscard]] LineMux::Pause pause_for(const Stream& stream) const;
  void update_interest(std::uint32_t index);
  void flush(std::uint32_t channel);
  void break_channel(std::uint32_t channel);
  [[nodiscard]] bool full(const Channel& channel) const;
  [[nodiscard]] std::uint32_t error_channel() const { return console_count_ - 1; }

  Poller& poller_;
  std::uint32_t ranks_;
  Wishes wishes_;
  bool direct_;
  bool finishing_ = false;
  bool lost_ = false;
  /// stdout, stderr (only one when both lead to the same place), then files.
  std::vector<Channel> channels_;
  std::uint32_t console_count_ = 0;
  std::vector<std::array<std::vector<Lane>, 2>> file_lanes_;  ///< of each rank and Which
  std::vector<Stream> streams_;
  std::uint32_t paused_count_ = 0;
  std::vector<char> buffer_;
};

}  // namespace fulmar::mpiexec
