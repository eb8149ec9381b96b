// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "fabric/bundle/config.h"
#include "fabric/network.h"

namespace fulmar::fabric {

namespace bundle {
class Pairs;
struct RailOwner;
}  // namespace bundle

/// The provider that is made of others: several networks, or adapters of one, used at once
/// (fabric/bundle/pairs.h says how).
///
/// Thread rule: all members under the lock of the engine; a sink may call all but `poll`.
class Bundle final : public Network {
 public:
  static constexpr std::size_t max_body_bytes = bundle::max_body_bytes;
  static constexpr std::size_t max_prefix_bytes = bundle::max_prefix_bytes;
  static constexpr std::size_t max_pieces = bundle::max_pieces;
  static constexpr std::size_t max_in_place_bytes = bundle::max_in_place_bytes;

  /// Fails (other) where the system has no descriptor left.
  [[nodiscard]] static base::Result<std::unique_ptr<Bundle>> open(const bundle::Config& config);
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;
  ~Bundle() override;

  /// The owner to be named in the config of the provider of the next rail to be added.
  [[nodiscard]] bundle::RailOwner& next_owner() noexcept;
  /// Before the first use, at most wire::bundle_most_rails times. `label`: see wire::BundleRail.
  /// `bytes_per_second` is the estimate until a transfer was measured. Fails (other) where the
  /// descriptor cannot be watched.
  [[nodiscard]] base::Error add(std::unique_ptr<Network> rail, std::string label,
                                double bytes_per_second);
  /// What the others need to connect to this process; at most 600 bytes. Fails (other).
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override;

  void grow(std::uint32_t size) override;
  [[nodiscard]] std::uint32_t self() const noexcept { return self_; }
  [[nodiscard]] std::uint32_t size() const noexcept;
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept override;
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override;

  /// `again` until there is a connection, which the first post asks for. A packet for a peer that
  /// is known to have died is dropped: `done`.
  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body) override;
  [[nodiscard]] Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                   std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                   std::uint64_t token) override;
  unsigned poll(SinkRef sink) override;

  [[nodiscard]] bool has_unsent() const noexcept override;
  void flush() override;
  [[nodiscard]] int descriptor() const noexcept override;
  [[nodiscard]] bool arm() override;
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override;

  /// The orderly end: `leave`, then poll until `quiesced`, then `end`: from then on `poll` does
  /// nothing.
  void leave(Leaving how) override;
  [[nodiscard]] bool quiesced() const noexcept override;
  void end() noexcept override;
  /// After `end`, if this process does not return: peers that still connect to it are refused.
  void close() noexcept override;
  /// After `end`, if not closed: as if just opened, at the same addresses. Fails (other) where one
  /// of the rails does not reconnect (Network::reconnects), or the system has no descriptor left.
  [[nodiscard]] base::Error resume() override;
  [[nodiscard]] std::vector<std::uint32_t> known_peers() const override;

  [[nodiscard]] const char* name_of(std::uint32_t peer) const noexcept override;
  [[nodiscard]] std::string text_of(std::uint32_t peer) const override;

  [[nodiscard]] const bundle::Pairs& pairs() const noexcept { return *pairs_; }

 private:
  Bundle(const bundle::Config& config, std::unique_ptr<bundle::Pairs> pairs);
  [[nodiscard]] std::size_t body_limit_of(std::uint32_t peer) override;
  [[nodiscard]] std::size_t in_place_limit_of(std::uint32_t peer) override;

  std::unique_ptr<bundle::Pairs> pairs_;
  std::uint32_t self_;
};

}  // namespace fulmar::fabric
