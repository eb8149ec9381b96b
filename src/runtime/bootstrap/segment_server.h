// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <pthread.h>

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "wire/node/node_join.h"

/// Both ends of the socket of wire/node/node_join.h.
namespace fulmar::runtime::bootstrap {

/// The leader's end: accepts the ranks of its node while the leader itself waits in the launcher's
/// fence, so it has a thread of its own until it is closed.
class SegmentServer {
 public:
  struct Client {
    wire::RankInfo info;
    base::UniqueFd socket;
  };

  /// Makes the socket, under a random name with a random secret, and listens.
  static base::Result<std::unique_ptr<SegmentServer>> make();
  explicit SegmentServer(base::UniqueFd listener, const wire::NodeInfo& card) noexcept
      : listener_(std::move(listener)), card_(card) {}
  SegmentServer(const SegmentServer&) = delete;
  SegmentServer& operator=(const SegmentServer&) = delete;
  ~SegmentServer();

  [[nodiscard]] const wire::NodeInfo& card() const noexcept { return card_; }

  /// From now on ranks of `expected` in this job (not the leader `self`) that send the secret are
  /// accepted, each once; the thread ends when all have connected.
  base::Error open(std::uint32_t job, std::uint32_t self, std::span<const std::uint32_t> expected);
  /// Ends the thread and returns the accepted ranks, in rank order. To be called when all ranks
  /// have got their answers: after a fence.
  std::vector<Client> close();

 private:
  void serve();
  void accept_client(base::UniqueFd socket);

  base::UniqueFd listener_;
  wire::NodeInfo card_;
  base::UniqueFd stop_;  ///< an eventfd
  std::uint32_t job_ = 0;
  std::uint32_t self_ = 0;
  std::vector<std::uint32_t> awaited_;
  std::vector<Client> clients_;
  pthread_t thread_{};
  bool running_ = false;
};

/// Sends the segment and the list of members to an accepted rank.
base::Error send_segment(int socket, int segment, std::span<const std::uint32_t> members);

/// A rank's end: connects to the leader, which is in the same job. Returns the socket when it was
/// accepted; none where no process, or one of another user, listens under that name: the leader
/// cannot be reached. Fails (other) where the leader answers wrongly or not at all.
base::Result<base::UniqueFd> request_segment(const wire::NodeInfo& card, std::uint32_t leader,
                                             std::uint32_t job, const wire::RankInfo& info);

struct Granted {
  base::UniqueFd segment;
  std::vector<std::uint32_t> members;
};
/// Waits for what `send_segment` sends; `size` is that of the job.
base::Result<Granted> receive_grant(int socket, std::uint32_t leader, std::uint32_t size);

}  // namespace fulmar::runtime::bootstrap
