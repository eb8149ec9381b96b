// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/error.h"
#include "fabric/provider.h"
#include "fabric/sink_ref.h"

namespace fulmar::fabric::bundle {

/// One of the networks of a bundle: a provider, with what a bundle needs of it. The members that
/// providers have, too, mean what provider.h says.
///
/// Thread rule: as for providers.
class Rail {
 public:
  Rail() = default;
  Rail(const Rail&) = delete;
  Rail& operator=(const Rail&) = delete;
  virtual ~Rail() = default;

  /// Of the provider, like "tcp".
  [[nodiscard]] virtual const char* name() const noexcept = 0;
  /// What the peers' providers need to find this one. Fails (other) where there is none.
  [[nodiscard]] virtual base::Result<std::vector<std::byte>> address() const = 0;
  /// The longest packet in place, prefix included, and the longest of `post`.
  [[nodiscard]] virtual std::size_t in_place_limit() const noexcept = 0;
  [[nodiscard]] virtual std::size_t body_limit() const noexcept = 0;

  [[nodiscard]] virtual Post post(std::uint32_t peer, const wire::Envelope& envelope,
                                  std::span<const std::byte> body) = 0;
  [[nodiscard]] virtual Post post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                           std::span<const std::byte> prefix,
                                           std::span<const iovec> pieces, std::uint64_t token) = 0;
  virtual unsigned poll(SinkRef sink) = 0;
  [[nodiscard]] virtual bool has_unsent() const noexcept = 0;
  virtual void flush() = 0;
  [[nodiscard]] virtual int descriptor() const noexcept = 0;
  [[nodiscard]] virtual bool arm() = 0;
  [[nodiscard]] virtual std::int64_t next_deadline_ns() const noexcept = 0;

  /// How long a host that has something to answer here may be silent before it is out of reach of
  /// this rail. `usual`: as long as where a network is alone. `brief`: there are other ways to the
  /// peer, so for `brief_ms`. `rest`: as usual, but the peer has been silent on another rail for
  /// `brief_ms` already.
  enum class Patience : std::uint8_t { usual, brief, rest };
  static constexpr std::uint32_t brief_ms = 3000;
  virtual void set_patience(std::uint32_t peer, Patience patience) = 0;
  /// Ends everything that joins this process to the peer: nothing is written to memory for it any
  /// more, nothing comes from it, and its packets in place end as `lost` with the next poll. Not
  /// from within `poll`; `lost` need not be called.
  virtual void drop(std::uint32_t peer) = 0;

  /// After `drop`: the rail connects to the peer anew when it is posted to, or when the peer does.
  /// False: it cannot. Not from within `poll`.
  [[nodiscard]] virtual bool readmit(std::uint32_t peer) = 0;

  virtual void leave(Leaving how) = 0;
  [[nodiscard]] virtual bool parted() const noexcept = 0;
  virtual void end() noexcept = 0;
  /// Whether the rail can be entered again: its connections end when it is left, and new ones bring
  /// nothing that was sent before. Then `resume`, after `end`, makes it as if just opened, at the
  /// same address, with another descriptor. Fails (other).
  [[nodiscard]] virtual bool returns() const noexcept = 0;
  [[nodiscard]] virtual base::Error resume() = 0;
  /// After `end`, by a process that does not come back.
  virtual void close() noexcept = 0;
  /// See TellsOfLeaving; of what came over this rail.
  [[nodiscard]] virtual bool gone(std::uint32_t peer) const noexcept = 0;
  /// The peer has said its last word on this rail, and takes nothing more over its connection.
  [[nodiscard]] virtual bool closing(std::uint32_t peer) const noexcept = 0;
};

}  // namespace fulmar::fabric::bundle
