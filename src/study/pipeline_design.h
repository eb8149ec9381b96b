// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstring>
#include <vector>

#include "fabric/provider.h"
#include "study/design.h"
#include "study/pieces.h"
#include "study/transit.h"

/// The pipeline design (section 4.4 of the paper): long packets in chunks, each on its way while
/// the next is copied.
///
/// It is the piggyback design with one difference. There the sender copies as many chunks as there
/// are free slots and then writes them; here each chunk is written as soon as it is copied, and the
/// receiver, which polls slot by slot, copies it out at once. So three things go on at a time: the
/// sender's copy of chunk k + 1, the write of chunk k, the receiver's copy of chunk k - 1. With
/// chunks that are too small every byte pays for envelopes and flags; with chunks that are too
/// large the first copy and the last, which overlap nothing, grow, and the ring holds few of them.
/// The paper found 2 to 16 KiB alike and 1 and 32 KiB worse, and took 16: over 500 MB/s instead of
/// 230, and then the memory bus was busy with two copies of each byte.
namespace fulmar::study {

inline constexpr std::size_t most_prefix_bytes = 32;

/// A long packet on its way out. There is one at a time for each peer, as in the paper: the stream
/// above the channel is blocked behind it.
struct LongSend {
  enum class Stage : std::uint8_t {
    idle,
    describing,  ///< the descriptor found no room yet
    described,   ///< the receiver's turn
    writing,     ///< where it has offered memory
    settling,    ///< all was written, and the memory here is still in use
    copying,     ///< through the ring
    finished,
  };
  Stage stage = Stage::idle;
  wire::Envelope envelope;
  std::array<std::byte, most_prefix_bytes> prefix{};
  std::uint32_t prefix_bytes = 0;
  std::vector<iovec> pieces;
  Lent lent;                  ///< of them, if they are described
  std::uint64_t bytes = 0;    ///< of all pieces
  std::uint64_t offset = 0;   ///< bytes that need not be sent any more
  std::uint64_t offered = 0;  ///< bytes that are being written
  std::uint64_t token = 0;
  std::uint64_t id = 0;
  bool begun = false;  ///< the receiver knows of the copying
};

/// A long packet on its way in, through the ring.
struct LongReceive {
  bool active = false;
  wire::Envelope envelope;
  std::array<std::byte, most_prefix_bytes> prefix{};
  std::uint32_t prefix_bytes = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

/// Puts as many chunks of a long packet as there is room for, each with put(part, envelope, bytes,
/// fill) of at most `limit` bytes. Returns how many.
template <class Put>
unsigned send_chunks(LongSend& send, std::size_t limit, DesignCounters& counters, Put&& put) {
  unsigned chunks = 0;
  while (send.stage == LongSend::Stage::copying) {
    const wire::BeginBody begin{
        send.offset, static_cast<std::uint32_t>(send.prefix_bytes + send.bytes), send.prefix_bytes};
    const std::size_t ahead = send.begun ? 0 : sizeof begin + send.prefix_bytes;
    const std::uint64_t count = std::min<std::uint64_t>(limit - ahead, send.bytes - send.offset);
    const auto fill = [&](std::span<std::byte> to, std::uint64_t) {
      std::byte* at = to.data();
      if (!send.begun) {
        std::memcpy(at, &begin, sizeof begin);
        std::memcpy(at + sizeof begin, send.prefix.data(), send.prefix_bytes);
        at += ahead;
      }
      for_parts(send.pieces, send.offset, count, [&](const iovec& part) {
        std::memcpy(at, part.iov_base, part.iov_len);
        at += part.iov_len;
      });
    };
    const auto part = send.begun ? wire::PipePart::more : wire::PipePart::begin;
    if (put(part, send.envelope, static_cast<std::uint32_t>(ahead + count), fill) ==
        fabric::Post::again) {
      break;
    }
    ++counters.copies;
    counters.copied_bytes += count;
    send.begun = true;
    send.offset += count;
    ++chunks;
    if (send.offset == send.bytes) send.stage = LongSend::Stage::finished;
  }
  return chunks;
}

/// Takes a unit `begin` or `more`; the bytes go to the sink. False if it makes no sense here.
template <class S>
[[nodiscard]] bool take_chunk(LongReceive& receive, std::uint32_t peer, const Unit& unit, S& sink,
                              DesignCounters& counters) {
  std::span<const std::byte> payload = unit.body;
  if (unit.part == wire::PipePart::begin) {
    wire::BeginBody begin;
    if (receive.active || payload.size() < sizeof begin) return false;
    std::memcpy(&begin, payload.data(), sizeof begin);
    payload = payload.subspan(sizeof begin);
    if (begin.prefix_bytes > most_prefix_bytes || begin.prefix_bytes > payload.size() ||
        begin.length < begin.prefix_bytes || begin.offset > begin.length - begin.prefix_bytes) {
      return false;
    }
    std::memcpy(receive.prefix.data(), payload.data(), begin.prefix_bytes);
    payload = payload.subspan(begin.prefix_bytes);
    receive.active = true;
    receive.envelope = unit.envelope;
    receive.envelope.length = begin.length;
    receive.prefix_bytes = begin.prefix_bytes;
    receive.bytes = begin.length - begin.prefix_bytes;
    receive.offset = begin.offset;
  }
  if (!receive.active || payload.size() > receive.bytes - receive.offset) return false;
  const std::uint64_t at = receive.offset;
  receive.offset += payload.size();
  receive.active = receive.offset < receive.bytes;
  ++counters.copies;
  counters.copied_bytes += payload.size();
  if constexpr (fabric::PlacesBodies<S>) {
    sink.part(peer, receive.envelope, std::span(receive.prefix).first(receive.prefix_bytes), at,
              payload);
  }
  return true;
}

}  // namespace fulmar::study
