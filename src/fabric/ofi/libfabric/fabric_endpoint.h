// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "fabric/ofi/endpoint.h"
#include "fabric/ofi/libfabric/library.h"
#include "fabric/ofi/libfabric/owned.h"
#include "fabric/ofi/libfabric/regions.h"
#include "fabric/ofi/open.h"

namespace fulmar::fabric::ofi {

/// The real endpoint.
class FabricEndpoint final : public Endpoint {
 public:
  /// Uses the first description of the list. Fails (other) with libfabric's words.
  static base::Result<std::unique_ptr<Endpoint>> open(const Library& library, InfoList info,
                                                      const Wish& wish);

  [[nodiscard]] const Capabilities& capabilities() const noexcept override { return can_; }
  [[nodiscard]] std::span<const std::byte> name() const noexcept override { return name_; }
  [[nodiscard]] base::Result<std::uint64_t> insert(std::span<const std::byte> name) override;
  [[nodiscard]] std::string text_of(std::span<const std::byte> name) const override;
  [[nodiscard]] base::Result<void*> enlist(std::span<std::byte> memory) override;
  PostResult inject(std::uint64_t to, std::span<const std::byte> bytes) override;
  PostResult send(std::uint64_t to, std::span<const iovec> pieces, void* descriptor,
                  Ticket& ticket) override;
  PostResult receive(std::span<std::byte> memory, void* descriptor, Ticket& ticket) override;
  [[nodiscard]] base::Result<MemoryRegion> open_memory(std::span<std::byte> memory,
                                                       Access access) override {
    return opened_.open(memory, access);
  }
  void close_memory(const MemoryRegion& opened) override { opened_.close(opened); }
  PostResult rdma_read(std::uint64_t peer, std::span<std::byte> to, std::uint32_t lkey,
                       const RemoteAddress& from, Ticket& ticket) override;
  PostResult rdma_write(std::uint64_t peer, std::span<const std::byte> from, std::uint32_t lkey,
                        const RemoteAddress& to, Ticket& ticket) override;
  PostResult atomic(std::uint64_t peer, std::span<std::byte> was, const AtomicOperation& order,
                    Ticket& ticket) override;
  std::size_t read(std::span<Event> events) override;
  [[nodiscard]] std::string last_error() const override { return last_error_; }
  [[nodiscard]] int descriptor() const noexcept override { return descriptor_; }
  [[nodiscard]] bool arm() override;

 private:
  FabricEndpoint(const Library& library, InfoList info)
      : library_(library), info_(std::move(info)) {}
  base::Error prepare(const Wish& wish);
  base::Error open_queue();
  base::Error start(const Wish& wish);
  [[nodiscard]] base::Error failed(const char* call, int result) const;
  void learn();
  void learn_changes();
  PostResult outcome(ssize_t result, const char* call);
  std::size_t read_failure(Event& event);

  // Closed from the last to the first.
  Library library_;
  InfoList info_;
  Owned<fid_fabric> fabric_;
  Owned<fid_domain> domain_;
  Owned<fid_cq> queue_;
  Owned<fid_av> addresses_;
  std::vector<Owned<fid_mr>> regions_;
  Owned<fid_ep> endpoint_;
  Regions opened_;
  Capabilities can_;
  std::vector<std::byte> name_;
  std::string last_error_;
  int descriptor_ = -1;
};

}  // namespace fulmar::fabric::ofi
