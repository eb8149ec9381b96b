// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "fabric/verbs/adapter.h"
#include "fabric/verbs/ibverbs/library.h"
#include "fabric/verbs/open.h"
#include "fabric/verbs/two_queues.h"

namespace fulmar::fabric::verbs {

/// A port of a device, and what kind of address it has there.
struct OpenPort {
  Context context;
  PortInfo facts;
  std::optional<GidInfo> gid;
};

/// The real adapter.
class IbAdapter final : public Adapter {
 public:
  /// Fails (other, no_mem) with the call that was refused.
  static base::Result<std::unique_ptr<Adapter>> open(const Library& library, OpenPort port,
                                                     const Wish& wish);
  ~IbAdapter() override;

  [[nodiscard]] const Traits& traits() const noexcept override { return traits_; }
  [[nodiscard]] base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                       Access access) override;
  std::size_t close_memory(std::uint64_t handle) override;
  [[nodiscard]] base::Result<std::unique_ptr<Queue>> open_queue() override;
  std::size_t receive(std::span<const ReceiveWorkRequest> requests, std::uint32_t key) override;
  std::size_t read(std::span<Completion> completions) override;
  [[nodiscard]] std::string text_of(int status) const override;
  [[nodiscard]] int descriptor() const noexcept override {
    return completions_.front().channel->fd;
  }
  void arm() override { arm(completions_.front()); }
  [[nodiscard]] int completion_descriptor() const noexcept override {
    return completions_.size() > 1 ? completions_.back().channel->fd : -1;
  }
  void arm_completions() override {
    if (completions_.size() > 1) arm(completions_.back());
  }
  [[nodiscard]] int event_descriptor() const noexcept override { return port_.context->async_fd; }
  [[nodiscard]] bool next_event(Event& event) override;

 private:
  IbAdapter(const Library& library, OpenPort port) : library_(library), port_(std::move(port)) {}
  base::Error prepare(const Wish& wish);
  base::Error learn(const Wish& wish, const ibv_device_attr& device);
  void learn_name(const ibv_port_attr& port);
  base::Error open_queues(CompletionQueues how_many);
  [[nodiscard]] base::Error refused(const char* call, int problem) const;
  std::size_t read_from(ibv_cq* queue, std::span<Completion> completions) const;

  /// A completion queue, and its completion channel.
  struct Completions {
    Owned<ibv_comp_channel> channel;
    Owned<ibv_cq> queue;
    unsigned unacknowledged = 0;  ///< events
    bool notifies = false;        ///< was asked for, and no event has come yet
  };
  base::Error open_completions();
  void take_events(Completions& from);
  void arm(Completions& completions);

  Library library_;
  // Closed from the last to the first.
  OpenPort port_;
  Owned<ibv_pd> domain_;
  std::unordered_map<std::uint64_t, Owned<ibv_mr>> regions_;  ///< by handle
  /// For everything, or, of two, for messages that came, and for own orders.
  std::vector<Completions> completions_;
  TwoQueues both_{0};  ///< means something where there are two
  Owned<ibv_srq> receives_;
  Traits traits_;
  std::uint32_t send_depth_ = 1;
  std::uint64_t last_handle_ = 0;
  bool needs_gid_ = false;  ///< even within a subnet
};

}  // namespace fulmar::fabric::verbs
