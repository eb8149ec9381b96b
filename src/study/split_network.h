// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "fabric/network.h"

namespace fulmar::study {

/// Two networks as one: some peers are reached over the first, which needs no address (a design
/// over the shared memory of a node), all others over the second.
class SplitNetwork final : public fabric::Network {
 public:
  /// `ranks`: the peers of the first, in ascending order. Fails (other) where the system has no
  /// descriptor left.
  [[nodiscard]] static base::Result<std::unique_ptr<SplitNetwork>> open(
      std::unique_ptr<fabric::Network> first, std::vector<std::uint32_t> ranks,
      std::unique_ptr<fabric::Network> second);

  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return second_->address();
  }
  [[nodiscard]] fabric::Post post(std::uint32_t peer, const wire::Envelope& envelope,
                                  std::span<const std::byte> body) override {
    return to(peer).post(peer, envelope, body);
  }
  [[nodiscard]] fabric::Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                           std::span<const std::byte> prefix,
                                           std::span<const iovec> pieces,
                                           std::uint64_t token) override {
    return to(peer).post_in_place(peer, envelope, prefix, pieces, token);
  }
  void grow(std::uint32_t size) override { second_->grow(size); }
  unsigned poll(fabric::SinkRef sink) override { return first_->poll(sink) + second_->poll(sink); }
  [[nodiscard]] bool has_unsent() const noexcept override {
    return first_->has_unsent() || second_->has_unsent();
  }
  void flush() override;

  [[nodiscard]] int descriptor() const noexcept override { return epoll_.get(); }
  [[nodiscard]] bool arm() override;
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override;

  [[nodiscard]] bool moves_remotely(std::uint32_t peer) const noexcept override {
    return !is_first(peer) && second_->moves_remotely(peer);
  }
  [[nodiscard]] base::Result<fabric::MemoryRegion> open_memory(std::span<std::byte> memory,
                                                               fabric::Access access) override {
    return second_->open_memory(memory, access);
  }
  void close_memory(const fabric::MemoryRegion& opened) override { second_->close_memory(opened); }
  [[nodiscard]] fabric::Post rdma_read(std::uint32_t peer, std::span<std::byte> to_memory,
                                       std::uint32_t lkey, const fabric::RemoteAddress& from,
                                       std::uint64_t token) override {
    return to(peer).rdma_read(peer, to_memory, lkey, from, token);
  }
  [[nodiscard]] fabric::Post rdma_write(std::uint32_t peer, std::span<const std::byte> from,
                                        std::uint32_t lkey, const fabric::RemoteAddress& place,
                                        std::uint64_t token) override {
    return to(peer).rdma_write(peer, from, lkey, place, token);
  }
  [[nodiscard]] bool reach(std::uint32_t peer) noexcept override { return to(peer).reach(peer); }
  [[nodiscard]] base::Error read(std::uint32_t peer, std::span<const iovec> local,
                                 std::uint64_t remote, std::uint64_t bytes) noexcept override {
    return to(peer).read(peer, local, remote, bytes);
  }
  [[nodiscard]] base::Error write(std::uint32_t peer, std::span<const iovec> local,
                                  std::uint64_t remote, std::uint64_t bytes) noexcept override {
    return to(peer).write(peer, local, remote, bytes);
  }

  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept override {
    return to(peer).alive(peer);
  }
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override {
    return to(peer).gone(peer);
  }
  void leave(fabric::Leaving how) override;
  [[nodiscard]] bool quiesced() const noexcept override {
    return first_->quiesced() && second_->quiesced();
  }
  void end() noexcept override;
  void close() noexcept override;
  [[nodiscard]] base::Error resume() override;
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const override {
    return second_->known_peers();
  }

  [[nodiscard]] const char* name_of(std::uint32_t peer) const noexcept override {
    return to(peer).name_of(peer);
  }
  [[nodiscard]] std::string text_of(std::uint32_t peer) const override {
    return to(peer).text_of(peer);
  }
  [[nodiscard]] std::uint64_t counted(std::string_view what) const noexcept override {
    return first_->counted(what) + second_->counted(what);
  }

 private:
  SplitNetwork(std::unique_ptr<fabric::Network> first, std::vector<std::uint32_t> ranks,
               std::unique_ptr<fabric::Network> second, base::UniqueFd epoll);
  [[nodiscard]] std::size_t body_limit_of(std::uint32_t peer) override {
    return to(peer).body_limit(peer);
  }
  [[nodiscard]] std::size_t in_place_limit_of(std::uint32_t peer) override {
    return to(peer).in_place_limit(peer);
  }
  [[nodiscard]] bool is_first(std::uint32_t peer) const noexcept;
  [[nodiscard]] fabric::Network& to(std::uint32_t peer) const noexcept {
    return is_first(peer) ? *first_ : *second_;
  }
  /// Those of the second change when it is entered again.
  [[nodiscard]] base::Error watch();

  std::unique_ptr<fabric::Network> first_;
  std::unique_ptr<fabric::Network> second_;
  std::vector<std::uint32_t> ranks_;
  base::UniqueFd epoll_;
};

}  // namespace fulmar::study
