// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "fabric/provider.h"

namespace fulmar::fabric {

/// A provider that is given to the designs of the study, which put their pipes where its adapter
/// writes: a type of its own, so that the choice costs the channel for every day nothing. Does not
/// own the provider.
template <PutsForPolling P>
class Studied {
 public:
  static constexpr const char* name = P::name;
  static constexpr bool lends_pipes = true;
  static constexpr std::size_t max_body_bytes = P::max_body_bytes;
  static constexpr std::size_t max_remote_bytes = P::max_remote_bytes;
  static constexpr std::size_t copied_put_bytes = P::copied_put_bytes;

  explicit Studied(P& provider) noexcept : provider_(provider) {}
  Studied(const Studied&) = delete;
  Studied& operator=(const Studied&) = delete;

  [[nodiscard]] std::uint32_t self() const noexcept { return provider_.self(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return provider_.size(); }
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept { return provider_.alive(peer); }
  [[nodiscard]] Post post(std::uint32_t peer, const wire::Envelope& envelope,
                          std::span<const std::byte> body) {
    return provider_.post(peer, envelope, body);
  }
  template <Sink S>
  unsigned poll(S& sink) {
    return provider_.poll(sink);
  }
  [[nodiscard]] bool gone(std::uint32_t peer) const noexcept
    requires TellsOfLeaving<P>
  {
    return provider_.gone(peer);
  }
  [[nodiscard]] bool moves_remotely() const noexcept { return provider_.moves_remotely(); }
  [[nodiscard]] base::Result<OpenMemory> open_memory(std::span<std::byte> memory, Access access) {
    return provider_.open_memory(memory, access);
  }
  void close_memory(const OpenMemory& opened) { provider_.close_memory(opened); }
  [[nodiscard]] Post fetch(std::uint32_t peer, std::span<std::byte> to, std::uint32_t own_key,
                           const RemotePlace& from, std::uint64_t token) {
    return provider_.fetch(peer, to, own_key, from, token);
  }
  [[nodiscard]] Post put(std::uint32_t peer, std::span<const std::byte> from, std::uint32_t own_key,
                         const RemotePlace& to, std::uint64_t token) {
    return provider_.put(peer, from, own_key, to, token);
  }
  [[nodiscard]] bool puts_in_order() const noexcept { return provider_.puts_in_order(); }
  [[nodiscard]] Post put_quietly(std::uint32_t peer, std::span<const std::byte> from,
                                 std::uint32_t own_key, const RemotePlace& to) {
    return provider_.put_quietly(peer, from, own_key, to);
  }
  void give_up(std::uint32_t peer, const base::Error& why) { provider_.give_up(peer, why); }
  [[nodiscard]] int descriptor() const noexcept
    requires SleepsOnDescriptor<P>
  {
    return provider_.descriptor();
  }
  [[nodiscard]] bool arm()
    requires SleepsOnDescriptor<P>
  {
    return provider_.arm();
  }
  [[nodiscard]] std::int64_t next_deadline_ns() const noexcept
    requires SleepsOnDescriptor<P>
  {
    return provider_.next_deadline_ns();
  }

 private:
  P& provider_;
};

}  // namespace fulmar::fabric
