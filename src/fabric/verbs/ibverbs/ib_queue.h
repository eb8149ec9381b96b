// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "fabric/verbs/adapter.h"
#include "fabric/verbs/ibverbs/library.h"

namespace fulmar::fabric::verbs {

/// A queue pair of the kind that libibverbs calls a reliable connection.
///
/// **How long a peer may be silent.** The network repeats what was not acknowledged after 0.27 s at
/// the earliest and, as adapters may take four times as long, after 1.1 s at the latest, six times:
/// a peer that is gone is an error after 2 to 8 s. One that has no buffer left says so, and is
/// asked again for as long as it takes: a process that computes posts none.
class IbQueue final : public Queue {
 public:
  struct Parts {
    ibv_pd* domain = nullptr;
    ibv_cq* send_completions = nullptr;
    ibv_cq* receive_completions = nullptr;
    ibv_srq* receives = nullptr;
    std::uint32_t depth = 1;
    std::uint8_t port = 1;
    std::optional<unsigned> gid_index;
    bool needs_gid = false;  ///< even within a subnet
    bool atomics = false;    ///< the device knows atomic operations
  };
  /// Fails (other).
  static base::Result<std::unique_ptr<Queue>> open(const Library& library, const Parts& parts);

  [[nodiscard]] std::uint32_t number() const noexcept override { return pair_->qp_num; }
  [[nodiscard]] std::size_t inline_bytes() const noexcept override { return inline_bytes_; }
  [[nodiscard]] std::size_t depth() const noexcept override { return depth_; }
  [[nodiscard]] base::Error connect(const wire::VerbsConnectionInfo& own,
                                    const wire::VerbsConnectionInfo& theirs) override;
  PostResult send(const SendWorkRequest& request) override;
  PostResult rdma_read(std::span<std::byte> to, const RdmaWorkRequest& request) override;
  PostResult rdma_write(std::span<const std::byte> from, const WriteWorkRequest& request) override;
  PostResult atomic(std::span<std::byte> was, const AtomicWorkRequest& request) override;
  [[nodiscard]] std::string last_error() const override;

 private:
  IbQueue(const Library& library, const Parts& parts) : library_(library), parts_(parts) {}
  base::Error create();
  base::Error initialise();
  base::Error get_ready_to_receive(const wire::VerbsConnectionInfo& own,
                                   const wire::VerbsConnectionInfo& theirs);
  base::Error get_ready_to_send(const wire::VerbsConnectionInfo& own,
                                const wire::VerbsConnectionInfo& theirs);
  PostResult post(ibv_send_wr& work);
  [[nodiscard]] ibv_ah_attr way_to(const wire::VerbsConnectionInfo& own,
                                   const wire::VerbsConnectionInfo& theirs) const;

  Library library_;
  Parts parts_;
  Owned<ibv_qp> pair_;
  std::size_t inline_bytes_ = 0;
  std::size_t depth_ = 1;
  int last_problem_ = 0;
};

}  // namespace fulmar::fabric::verbs
