// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <optional>

#include "channel/pipeline_design.h"
#include "wire/packets.h"

/// The zero-copy design (section 5 of the paper): the ring carries where the bytes are.
///
/// Short packets go as in the piggyback design. For a long one the sender writes a descriptor of
/// its memory into a slot and is done when the receiver says so. By read, which the paper built:
/// the receiver finds out where the bytes belong, reads them from the sender's memory into place,
/// and answers `done`. By write, which the paper describes: the receiver answers with an `offer` of
/// its memory, the sender writes there, and `wrote` is right behind the last byte. Either way no
/// processor copies a byte through a ring; what is paid is one handshake for each long packet, and
/// the adapter has to know the memory of both sides.
///
/// Fences: the descriptor is published behind everything that the program stored into its buffer;
/// `done` and `wrote` are written when the bytes have moved, and not before. Where that cannot be
/// (another user's process, memory in pieces of a few bytes) the receiver refuses from the byte on
/// where it stopped, and the rest comes as in the pipeline design.
///
/// The paper: 857 MB/s of 870, short messages at 7.6 us instead of 7.4. Reading suited its MPI,
/// which looks for a long message after it was announced; writing was faster from 32 to 256 KiB on
/// its adapter.
namespace fulmar::channel {

/// The most pieces in one descriptor or offer.
inline constexpr std::size_t most_pipe_pieces = 64;
/// What one look at a pipe moves at most, so that others are not kept waiting.
inline constexpr std::uint64_t most_bytes_per_step = 1U << 20;

/// A long packet on its way in that was described.
struct Pull {
  enum class Stage : std::uint8_t {
    idle,
    reading,
    offering,  ///< the next offer is due
    offered,   ///< the sender's turn
  };
  Stage stage = Stage::idle;
  std::uint64_t id = 0;
  wire::Envelope envelope;
  std::array<std::byte, most_prefix_bytes> prefix{};
  std::uint32_t prefix_bytes = 0;
  std::vector<iovec> theirs;  ///< addresses at the sender
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
  std::uint64_t offered = 0;

  [[nodiscard]] std::span<const std::byte> head() const noexcept {
    return std::span(prefix).first(prefix_bytes);
  }
};

/// A unit without payload that one side owes the other.
struct OwedUnit {
  wire::PipePart part;
  std::array<std::byte, sizeof(wire::OfferBody) + most_pipe_pieces * sizeof(wire::PipePiece)> body;
  std::uint32_t bytes = 0;

  void add(const void* from, std::size_t count) noexcept {
    std::memcpy(body.data() + bytes, from, count);
    bytes += static_cast<std::uint32_t>(count);
  }
};

/// Whether a descriptor of the packet fits into a unit of `limit` bytes.
[[nodiscard]] inline bool can_describe(const LongSend& send, std::size_t limit) noexcept {
  return send.bytes != 0 && send.pieces.size() <= most_pipe_pieces &&
         sizeof(wire::DescribeBody) + send.prefix_bytes +
                 send.pieces.size() * sizeof(wire::PipePiece) <=
             limit;
}

/// Puts the descriptor with put(part, envelope, bytes, fill).
template <class Put>
[[nodiscard]] fabric::Post describe(const LongSend& send, Put&& put) {
  const wire::DescribeBody head{send.id, send.prefix_bytes,
                                static_cast<std::uint32_t>(send.pieces.size())};
  const std::size_t ahead = sizeof head + send.prefix_bytes;
  const auto fill = [&](std::span<std::byte> to, std::uint64_t) {
    std::memcpy(to.data(), &head, sizeof head);
    std::memcpy(to.data() + sizeof head, send.prefix.data(), send.prefix_bytes);
    std::byte* at = to.data() + ahead;
    for (const iovec& piece : send.pieces) {
      const wire::PipePiece told{reinterpret_cast<std::uintptr_t>(piece.iov_base), piece.iov_len};
      std::memcpy(at, &told, sizeof told);
      at += sizeof told;
    }
  };
  return put(wire::PipePart::describe, send.envelope,
             static_cast<std::uint32_t>(ahead + send.pieces.size() * sizeof(wire::PipePiece)),
             fill);
}

/// Reads `count` pieces, which are all that is left of `body`. Their bytes, or nothing if they make
/// no sense.
[[nodiscard]] inline std::optional<std::uint64_t> read_pieces(std::span<const std::byte> body,
                                                              std::uint32_t count,
                                                              std::vector<iovec>& pieces) {
  if (count == 0 || count > most_pipe_pieces || body.size() != count * sizeof(wire::PipePiece)) {
    return std::nullopt;
  }
  std::uint64_t bytes = 0;
  pieces.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    wire::PipePiece piece;
    std::memcpy(&piece, body.data() + i * sizeof piece, sizeof piece);
    if (!wire::is_range(piece.address, piece.bytes) || piece.bytes > UINT32_MAX) {
      return std::nullopt;
    }
    pieces.push_back({reinterpret_cast<void*>(piece.address), piece.bytes});
    bytes += piece.bytes;
  }
  return bytes;
}

/// Takes a unit `describe`. False if it makes no sense here.
[[nodiscard]] inline bool take_description(Pull& pull, const Unit& unit, Mover mover) {
  wire::DescribeBody head;
  if (pull.stage != Pull::Stage::idle || unit.body.size() < sizeof head) return false;
  std::memcpy(&head, unit.body.data(), sizeof head);
  std::span<const std::byte> rest = unit.body.subspan(sizeof head);
  if (head.prefix_bytes > most_prefix_bytes || head.prefix_bytes > rest.size()) return false;
  const auto bytes = read_pieces(rest.subspan(head.prefix_bytes), head.pieces, pull.theirs);
  if (!bytes || *bytes == 0 || *bytes > UINT32_MAX - head.prefix_bytes) return false;
  std::memcpy(pull.prefix.data(), rest.data(), head.prefix_bytes);
  pull.stage = mover == Mover::receiver_reads ? Pull::Stage::reading : Pull::Stage::offering;
  pull.id = head.id;
  pull.envelope = unit.envelope;
  pull.envelope.length = static_cast<std::uint32_t>(head.prefix_bytes + *bytes);
  pull.prefix_bytes = head.prefix_bytes;
  pull.bytes = *bytes;
  pull.offset = 0;
  return true;
}

/// Bytes of the first pieces that a descriptor can name, at most `most`.
[[nodiscard]] inline std::uint64_t covered_by(std::span<const iovec> pieces,
                                              std::uint64_t most) noexcept {
  std::uint64_t bytes = 0;
  for (const iovec& piece : pieces.first(std::min(pieces.size(), most_pipe_pieces))) {
    bytes += piece.iov_len;
  }
  return std::min(bytes, most);
}

/// Moves [offset, offset + bytes) of the packet between `here`, whose first byte is the first of
/// them, and `there`, which is all of it at the peer. `move(local, address, count)` moves one run.
template <class Move>
[[nodiscard]] base::Error move_bytes(std::span<const iovec> here, std::span<const iovec> there,
                                     std::uint64_t offset, std::uint64_t bytes, Move&& move) {
  base::Error error;
  std::uint64_t moved = 0;
  for_parts(there, offset, bytes, [&](const iovec& run) {
    if (error.failed()) return;
    std::vector<iovec> local;
    for_parts(here, moved, run.iov_len, [&](const iovec& part) { local.push_back(part); });
    error = move(std::span<const iovec>(local), reinterpret_cast<std::uintptr_t>(run.iov_base),
                 run.iov_len);
    moved += run.iov_len;
  });
  return error;
}

/// One step of reading: an answer to send, once there is one.
template <class P, class S>
[[nodiscard]] std::optional<OwedUnit> read_step(Pull& pull, std::uint32_t peer, P& provider,
                                                S& sink, DesignCounters& counters) {
  const std::uint64_t most = std::min(pull.bytes - pull.offset, most_bytes_per_step);
  const std::span<const iovec> here =
      provider.reach(peer) ? sink.place(peer, pull.envelope, pull.head(), pull.offset, most)
                           : std::span<const iovec>();
  const std::uint64_t count = covered_by(here, most);
  const bool moved = count != 0 && move_bytes(here, pull.theirs, pull.offset, count,
                                              [&](std::span<const iovec> local,
                                                  std::uint64_t address, std::uint64_t bytes) {
                                                return provider.read(peer, local, address, bytes);
                                              })
                                       .ok();
  if (moved) {
    counters.moved_bytes += count;
    sink.placed(peer, pull.envelope, pull.head(), pull.offset, count);
    pull.offset += count;
    if (pull.offset < pull.bytes) return std::nullopt;
  }
  ++counters.handshakes;
  pull.stage = Pull::Stage::idle;
  OwedUnit answer{moved ? wire::PipePart::done : wire::PipePart::refused, {}, 0};
  const wire::PipeAnswer body{pull.id, pull.offset};
  answer.add(&body, sizeof body);
  return answer;
}

/// The next offer of memory, of at most `limit` bytes itself, or the refusal of what is left.
template <class S>
[[nodiscard]] OwedUnit offer_step(Pull& pull, std::uint32_t peer, std::size_t limit, S& sink,
                                  DesignCounters& counters) {
  ++counters.handshakes;
  std::span<const iovec> here =
      sink.place(peer, pull.envelope, pull.head(), pull.offset, pull.bytes - pull.offset);
  const std::size_t fitting = (limit - sizeof(wire::OfferBody)) / sizeof(wire::PipePiece);
  here = here.first(std::min({here.size(), most_pipe_pieces, fitting}));
  const std::uint64_t count = covered_by(here, pull.bytes - pull.offset);
  if (count == 0) {
    pull.stage = Pull::Stage::idle;
    OwedUnit answer{wire::PipePart::refused, {}, 0};
    const wire::PipeAnswer body{pull.id, pull.offset};
    answer.add(&body, sizeof body);
    return answer;
  }
  OwedUnit offer{wire::PipePart::offer, {}, 0};
  wire::OfferBody body{pull.id, pull.offset, count, 0, 0};
  for_parts(here, 0, count, [&](const iovec&) { ++body.pieces; });
  offer.add(&body, sizeof body);
  for_parts(here, 0, count, [&](const iovec& part) {
    const wire::PipePiece piece{reinterpret_cast<std::uintptr_t>(part.iov_base), part.iov_len};
    offer.add(&piece, sizeof piece);
  });
  pull.offered = count;
  pull.stage = Pull::Stage::offered;
  return offer;
}

/// Takes a unit `wrote`. False if it makes no sense here.
template <class S>
[[nodiscard]] bool take_written(Pull& pull, std::uint32_t peer, const Unit& unit, S& sink) {
  wire::OfferBody body;
  if (pull.stage != Pull::Stage::offered || unit.body.size() != sizeof body) return false;
  std::memcpy(&body, unit.body.data(), sizeof body);
  if (body.id != pull.id || body.offset != pull.offset || body.bytes != pull.offered) return false;
  const std::uint64_t at = pull.offset;
  pull.offset += pull.offered;
  pull.stage = pull.offset < pull.bytes ? Pull::Stage::offering : Pull::Stage::idle;
  sink.placed(peer, pull.envelope, pull.head(), at, body.bytes);
  return true;
}

/// Takes a unit `offer`: writes there and answers. Nothing if it makes no sense here. Where the
/// memory cannot be written the rest is copied.
template <class P>
[[nodiscard]] bool take_offer(LongSend& send, std::uint32_t peer, const Unit& unit, P& provider,
                              std::vector<OwedUnit>& owed, DesignCounters& counters) {
  wire::OfferBody body;
  if (send.stage != LongSend::Stage::described || unit.body.size() < sizeof body) return false;
  std::memcpy(&body, unit.body.data(), sizeof body);
  std::vector<iovec> there;
  const auto bytes = read_pieces(unit.body.subspan(sizeof body), body.pieces, there);
  if (!bytes || *bytes != body.bytes || *bytes == 0 || body.id != send.id ||
      body.offset != send.offset || body.bytes > send.bytes - send.offset) {
    return false;
  }
  std::vector<iovec> here;
  for_parts(send.pieces, send.offset, body.bytes, [&](const iovec& part) { here.push_back(part); });
  const base::Error error = provider.reach(peer)
                                ? move_bytes(here, there, 0, body.bytes,
                                             [&](std::span<const iovec> local,
                                                 std::uint64_t address, std::uint64_t count) {
                                               return provider.write(peer, local, address, count);
                                             })
                                : base::Error(base::ErrorClass::other);
  if (error.failed()) {
    send.stage = LongSend::Stage::copying;
    return true;
  }
  counters.moved_bytes += body.bytes;
  send.offset += body.bytes;
  if (send.offset == send.bytes) send.stage = LongSend::Stage::finished;
  body.pieces = 0;
  owed.push_back({wire::PipePart::wrote, {}, 0});
  owed.back().add(&body, sizeof body);
  return true;
}

/// Takes a unit `done` or `refused`. False if it makes no sense here.
[[nodiscard]] inline bool take_answer(LongSend& send, const Unit& unit) noexcept {
  wire::PipeAnswer body;
  if (send.stage != LongSend::Stage::described || unit.body.size() != sizeof body) return false;
  std::memcpy(&body, unit.body.data(), sizeof body);
  if (body.id != send.id || body.offset > send.bytes) return false;
  if (unit.part == wire::PipePart::done) {
    if (body.offset != send.bytes) return false;
    send.stage = LongSend::Stage::finished;
    return true;
  }
  send.offset = body.offset;
  send.stage = LongSend::Stage::copying;
  return true;
}

}  // namespace fulmar::channel
