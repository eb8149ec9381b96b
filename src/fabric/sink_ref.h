// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <type_traits>

#include "fabric/provider.h"

namespace fulmar::fabric {

/// A type-erased reference to any sink, so that networks are compiled once. Does not own the sink.
/// Constructed implicitly.
class SinkRef {
 public:
  template <Sink S>
    requires(!std::same_as<std::remove_const_t<S>, SinkRef>)
  SinkRef(S& sink) noexcept : sink_(&sink), calls_(&calls_of<S>) {}

  void packet(std::uint32_t peer, const wire::Envelope& envelope, const Body& body) const {
    calls_->packet(sink_, peer, envelope, body);
  }
  /// Whether the sink takes bodies that were posted in place. The members below need it.
  [[nodiscard]] bool places() const noexcept { return calls_->place != nullptr; }
  [[nodiscard]] std::span<const iovec> place(std::uint32_t peer, const wire::Envelope& envelope,
                                             std::span<const std::byte> prefix,
                                             std::uint64_t offset, std::uint64_t bytes) const {
    return calls_->place(sink_, peer, envelope, prefix, offset, bytes);
  }
  void placed(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> prefix,
              std::uint64_t offset, std::uint64_t bytes) const {
    calls_->placed(sink_, peer, envelope, prefix, offset, bytes);
  }
  void part(std::uint32_t peer, const wire::Envelope& envelope, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload) const {
    calls_->part(sink_, peer, envelope, prefix, offset, payload);
  }
  /// False for a sink that expects nothing.
  [[nodiscard]] bool expect(std::uint32_t peer, const wire::Envelope& envelope) const {
    return calls_->expect != nullptr && calls_->expect(sink_, peer, envelope);
  }
  /// Does nothing for a sink without `sent`.
  void sent(std::uint64_t token, Sent how) const { calls_->sent(sink_, token, how); }
  /// Does nothing for a sink without it (ReceivesImmediates).
  void immediate_received(std::uint32_t peer, std::uint16_t word) const {
    calls_->immediate_received(sink_, peer, word);
  }

 private:
  using Prefix = std::span<const std::byte>;
  struct Calls {
    void (*packet)(void*, std::uint32_t, const wire::Envelope&, const Body&);
    std::span<const iovec> (*place)(void*, std::uint32_t, const wire::Envelope&, Prefix,
                                    std::uint64_t, std::uint64_t);
    void (*placed)(void*, std::uint32_t, const wire::Envelope&, Prefix, std::uint64_t,
                   std::uint64_t);
    void (*part)(void*, std::uint32_t, const wire::Envelope&, Prefix, std::uint64_t,
                 std::span<const std::byte>);
    bool (*expect)(void*, std::uint32_t, const wire::Envelope&);
    void (*sent)(void*, std::uint64_t, Sent);
    void (*immediate_received)(void*, std::uint32_t, std::uint16_t);
  };

  template <class S>
  static constexpr Calls make_calls() {
    Calls calls{};
    calls.packet = [](void* sink, std::uint32_t peer, const wire::Envelope& envelope,
                      const Body& body) { static_cast<S*>(sink)->packet(peer, envelope, body); };
    calls.sent = [](void*, std::uint64_t, Sent) {};
    if constexpr (ReceivesSendCompletions<S>) {
      calls.sent = [](void* sink, std::uint64_t token, Sent how) {
        static_cast<S*>(sink)->sent(token, how);
      };
    }
    calls.immediate_received = [](void*, std::uint32_t, std::uint16_t) {};
    if constexpr (ReceivesImmediates<S>) {
      calls.immediate_received = [](void* sink, std::uint32_t peer, std::uint16_t word) {
        static_cast<S*>(sink)->immediate_received(peer, word);
      };
    }
    if constexpr (PlacesBodies<S>) {
      calls.place = [](void* sink, std::uint32_t peer, const wire::Envelope& envelope,
                       Prefix prefix, std::uint64_t offset,
                       std::uint64_t bytes) -> std::span<const iovec> {
        return static_cast<S*>(sink)->place(peer, envelope, prefix, offset, bytes);
      };
      calls.placed = [](void* sink, std::uint32_t peer, const wire::Envelope& envelope,
                        Prefix prefix, std::uint64_t offset, std::uint64_t bytes) {
        static_cast<S*>(sink)->placed(peer, envelope, prefix, offset, bytes);
      };
      calls.part = [](void* sink, std::uint32_t peer, const wire::Envelope& envelope, Prefix prefix,
                      std::uint64_t offset, std::span<const std::byte> payload) {
        static_cast<S*>(sink)->part(peer, envelope, prefix, offset, payload);
      };
    }
    if constexpr (ExpectsBodies<S>) {
      calls.expect = [](void* sink, std::uint32_t peer, const wire::Envelope& envelope) {
        return static_cast<S*>(sink)->expect(peer, envelope);
      };
    }
    return calls;
  }
  template <class S>
  static constexpr Calls calls_of = make_calls<S>();

  void* sink_;
  const Calls* calls_;
};

}  // namespace fulmar::fabric
