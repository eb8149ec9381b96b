// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "wire/node/segment_offer.h"
#include "wire/process_name.h"

/// Memory that processes of a node share beyond the segment of their job: made when it is needed, by
/// one of them, and gone with the last mapping. See wire/node/segment_offer.h for how the others
/// get it.
namespace fulmar::device {

/// A mapped memory file, zeros when it is made, of a size that nobody can change (sealed): no access
/// to it faults for want of a page of the file. Unmaps and closes at its end.
///
/// Thread rule: none of its own; what lies in it is shared with other processes.
class NodeSegment {
 public:
  /// Fails (no_mem) with the limit or the cause: no memory file, a limit on file sizes (ulimit -f),
  /// no address space (ulimit -v). Requires bytes > 0.
  static base::Result<NodeSegment> make(std::size_t bytes);
  /// Maps a file that another process made. Fails (other) where it is not sealed or has another
  /// size than `bytes`, and as above.
  static base::Result<NodeSegment> map(base::UniqueFd file, std::size_t bytes);

  NodeSegment(NodeSegment&& other) noexcept;
  NodeSegment& operator=(NodeSegment&& other) noexcept;
  NodeSegment(const NodeSegment&) = delete;
  NodeSegment& operator=(const NodeSegment&) = delete;
  ~NodeSegment();

  [[nodiscard]] std::span<std::byte> memory() const noexcept { return memory_; }
  /// Stays owned by this.
  [[nodiscard]] int file() const noexcept { return file_.get(); }

 private:
  NodeSegment(base::UniqueFd file, std::span<std::byte> memory) noexcept
      : file_(std::move(file)), memory_(memory) {}

  base::UniqueFd file_;
  std::span<std::byte> memory_;
};

/// The maker's end. Nothing waits: the caller paces both sides by messages.
///
/// Thread rule: one call at a time.
class SegmentOffer {
 public:
  /// Listens for the processes `expected`, under a random name with a random secret. `segment`
  /// outlives this. Fails (other) where the system has no socket or no random bytes.
  static base::Result<std::unique_ptr<SegmentOffer>> open(const NodeSegment& segment,
                                                          std::vector<wire::ProcessName> expected);
  SegmentOffer(const SegmentOffer&) = delete;
  SegmentOffer& operator=(const SegmentOffer&) = delete;
  ~SegmentOffer() = default;

  /// For those who are expected, and nobody else.
  [[nodiscard]] const wire::SegmentTicket& ticket() const noexcept { return ticket_; }
  /// Hands the file to those who have asked by now; strangers are closed. How many of the expected
  /// have not got it.
  std::size_t serve() noexcept;

 private:
  SegmentOffer(base::UniqueFd listener, const wire::SegmentTicket& ticket, int file,
               std::vector<wire::ProcessName> expected) noexcept
      : listener_(std::move(listener)),
        ticket_(ticket),
        file_(file),
        awaited_(std::move(expected)) {}
  void welcome(base::UniqueFd visitor) noexcept;

  base::UniqueFd listener_;
  wire::SegmentTicket ticket_;
  int file_;
  std::vector<wire::ProcessName> awaited_;
};

/// The end of one who asks.
///
/// Thread rule: one call at a time.
class SegmentRequest {
 public:
  SegmentRequest(const wire::SegmentTicket& ticket, const wire::ProcessName& self) noexcept
      : ticket_(ticket), self_(self) {}

  /// Asks. False: the maker has too many waiting; again, after it has served. Fails (other) where
  /// nobody, or another user, listens there.
  [[nodiscard]] base::Result<bool> ask();
  /// After `ask`: the segment, mapped; nothing while the maker has not handed it over. Fails (other)
  /// where it never will, or gives something else.
  [[nodiscard]] base::Result<std::optional<NodeSegment>> take();

 private:
  wire::SegmentTicket ticket_;
  wire::ProcessName self_;
  base::UniqueFd socket_;
};

}  // namespace fulmar::device
