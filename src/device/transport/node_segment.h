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

/// Memory that processes of a node share beyond the segment of their job: made when it is needed,
/// by one of them, and freed with the last mapping. See wire/node/segment_offer.h for how the
/// others get it.
namespace fulmar::device {

/// A mapped memory file, initially zeros, whose size is sealed: no access
/// to it faults for lack of a page of the file. Unmaps and closes at its end.
///
/// Thread rule: none of its own; its contents are shared with other processes.
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
  /// The memory stays mapped; no descriptor is needed for it. It cannot be offered any more.
  void close_file() noexcept { file_.reset(); }

 private:
  NodeSegment(base::UniqueFd file, std::span<std::byte> memory) noexcept
      : file_(std::move(file)), memory_(memory) {}

  base::UniqueFd file_;
  std::span<std::byte> memory_;
};

/// The creator's end. Never blocks: the caller paces both sides by messages.
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

  /// To be sent to the expected processes, and to no others.
  [[nodiscard]] const wire::SegmentTicket& ticket() const noexcept { return ticket_; }
  /// Sends the file to the processes that have asked by now. Others that have connected are closed;
  /// those that have not sent their hello yet are looked at again by the next call. Never blocks.
  /// Returns how many of the expected processes have not got it.
  std::size_t serve() noexcept;

 private:
  SegmentOffer(base::UniqueFd listener, const wire::SegmentTicket& ticket, int file,
               std::vector<wire::ProcessName> expected) noexcept
      : listener_(std::move(listener)),
        ticket_(ticket),
        file_(file),
        awaited_(std::move(expected)) {}
  enum class Hello : std::uint8_t { due, done };
  [[nodiscard]] Hello answer(int client) noexcept;
  void keep(base::UniqueFd client) noexcept;

  base::UniqueFd listener_;
  wire::SegmentTicket ticket_;
  int file_;
  std::vector<wire::ProcessName> awaited_;
  /// Have connected and sent no hello yet. Reserved; where it is full, the oldest gives way.
  std::vector<base::UniqueFd> silent_;
};

/// The end of a process that requests the segment.
///
/// Thread rule: one call at a time.
class SegmentRequest {
 public:
  SegmentRequest(const wire::SegmentTicket& ticket, const wire::ProcessName& self) noexcept
      : ticket_(ticket), self_(self) {}

  /// Sends the request. False: the creator's backlog is full; call again after it has served. Fails
  /// (other) where no process, or one of another user, listens there.
  [[nodiscard]] base::Result<bool> ask();
  /// After `ask`: the segment, mapped; nothing while the creator has not sent it. Fails (other)
  /// where it never will, or sends something else.
  [[nodiscard]] base::Result<std::optional<NodeSegment>> take();

 private:
  wire::SegmentTicket ticket_;
  wire::ProcessName self_;
  base::UniqueFd socket_;
};

}  // namespace fulmar::device
