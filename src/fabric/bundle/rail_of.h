// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "fabric/bundle/rail.h"
#include "wire/bundle_packet.h"

namespace fulmar::fabric::bundle {

/// A provider that can be a rail: it can be left, and single peers can be dropped.
template <class P>
concept Bundled =
    SendsInPlace<P> && SleepsOnDescriptor<P> &&
    P::max_prefix_bytes >= sizeof(wire::BundlePacket) + wire::bundle_max_prefix_bytes &&
    requires(P& provider, const P& view, std::uint32_t peer, Leaving how) {
      { provider.drop(peer) };
      { view.gone(peer) } -> std::same_as<bool>;
      { provider.leave(how) };
      { view.parted() } -> std::same_as<bool>;
      { view.address() };
    };

/// Each stay has connections of its own. (libfabric's endpoints stay, and what was sent to one that
/// is away waits there.)
template <class P>
concept Returns = requires(P& provider) {
  { provider.resume() } -> std::same_as<base::Error>;
};

/// Makes a rail of a provider, which it owns.
template <Bundled P>
class RailOf final : public Rail {
 public:
  explicit RailOf(std::unique_ptr<P> provider) noexcept : provider_(std::move(provider)) {}

  [[nodiscard]] P& provider() noexcept { return *provider_; }

  [[nodiscard]] const char* name() const noexcept override { return P::name; }
  [[nodiscard]] base::Result<std::vector<std::byte>> address() const override {
    return provider_->address();
  }
  [[nodiscard]] std::size_t in_place_limit() const noexcept override {
    return P::max_in_place_bytes;
  }
  [[nodiscard]] std::size_t body_limit() const noexcept override { return P::max_body_bytes; }

  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body) override {
    return provider_->post(peer, envelope, body);
  }
  [[nodiscard]] Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                   std::span<const std::byte> prefix, std::span<const iovec> pieces,
                                   std::uint64_t token) override {
    return provider_->post_in_place(peer, envelope, prefix, pieces, token);
  }
  unsigned poll(SinkRef sink) override { return provider_->poll(sink); }
  [[nodiscard]] bool has_unsent() const noexcept override {
    if constexpr (HoldsPackets<P>) return provider_->has_unsent();
    return false;
  }
  void flush() override {
    if constexpr (HoldsPackets<P>) provider_->flush();
  }
  [[nodiscard]] int descriptor() const noexcept override { return provider_->descriptor(); }
  [[nodiscard]] bool arm() override { return provider_->arm(); }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept override {
    return provider_->next_deadline_ns();
  }

  void set_patience(std::uint32_t peer, Patience patience) override {
    if constexpr (requires { provider_->set_dead_after(peer, 0U); }) {
      provider_->set_dead_after(peer, patience == Patience::brief ? brief_ms : 0);
    }
    if constexpr (requires { provider_->set_silent_for(peer, 0U); }) {
      provider_->set_silent_for(peer, patience == Patience::rest ? brief_ms : 0);
    }
  }
  void drop(std::uint32_t peer) override { provider_->drop(peer); }
  [[nodiscard]] bool readmit(std::uint32_t peer) override {
    if constexpr (requires { provider_->readmit(peer); }) {
      provider_->readmit(peer);
      return true;
    } else {
      return false;
    }
  }
  void leave(Leaving how) override { provider_->leave(how); }
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept override {
    return provider_->gone(peer);
  }
  [[nodiscard]] bool closing(std::uint32_t peer) const noexcept override {
    if constexpr (requires { provider_->closing(peer); }) return provider_->closing(peer);
    return false;
  }
  void close() noexcept override {
    if constexpr (requires { provider_->close(); }) provider_->close();
  }
  [[nodiscard]] bool parted() const noexcept override { return provider_->parted(); }
  void end() noexcept override {
    if constexpr (requires { provider_->end(); }) provider_->end();
  }
  [[nodiscard]] bool returns() const noexcept override { return Returns<P>; }
  [[nodiscard]] base::Error resume() override {
    if constexpr (Returns<P>) {
      return provider_->resume();
    } else {
      return base::failure(base::ErrorClass::intern, "the network %s cannot be entered again",
                           P::name);
    }
  }

 private:
  std::unique_ptr<P> provider_;
};

}  // namespace fulmar::fabric::bundle
