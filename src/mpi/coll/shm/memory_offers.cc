// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/shm/memory_offers.h"

#include <algorithm>
#include <cstring>

namespace fulmar::mpi {

using base::Error;
using device::ShmCollArea;

namespace {

/// Bytes of the buffer for data that are not one run; small, so that it stays in the caches.
constexpr Count piece_bytes = Count{64} << 10;

/// Calls `move(at, piece)` for pieces of `bytes` bytes through a buffer, until one fails.
template <class Move>
Error by_pieces(Count bytes, const Comm& comm, Move&& move) {
  const Scratch landing(byte_type(comm), std::min(bytes, piece_bytes));
  if (landing.failed()) return landing.error();
  auto* const memory = static_cast<std::byte*>(landing.address());
  for (Count at = 0; at < bytes; at += piece_bytes) {
    const auto count = static_cast<std::size_t>(std::min(piece_bytes, bytes - at));
    const Error error = move(at, std::span<std::byte>(memory, count));
    if (error.failed()) return error;
  }
  return {};
}

}  // namespace

Offer offer_of(const ShmCollArea& coll_area, int member) noexcept {
  Offer offer;
  std::memcpy(&offer, coll_area.payload(member, sizeof offer), sizeof offer);
  return offer;
}

bool all_agree(ShmCollArea& coll_area, Count whole, const Offer& own) noexcept {
  coll_area.post(length_of(sizeof own, whole),
                 [&](std::byte* to, base::StoreKind) { std::memcpy(to, &own, sizeof own); });
  if (!coll_area.wait_all()) return false;
  for (int member = 0; member < coll_area.size(); ++member) {
    if (coll_area.whole_bytes_of(member) == 0 || offer_of(coll_area, member).agrees != 1)
      return false;
  }
  return true;
}

const Datatype& byte_type(const Comm& comm) noexcept {
  return *comm.library->find<Datatype>(MPI_BYTE);
}

Error read_block(ShmCollArea& coll_area, int member, std::uint64_t address, const Packed& to,
                 const Comm& comm) {
  if (std::byte* const run = to.run(); run != nullptr) {
    return coll_area.memory().read(member, address, {run, static_cast<std::size_t>(to.bytes())});
  }
  return by_pieces(to.bytes(), comm, [&](Count at, std::span<std::byte> piece) {
    const Error error =
        coll_area.memory().read(member, address + static_cast<std::uint64_t>(at), piece);
    if (error.ok()) to.write(at, static_cast<Count>(piece.size()), piece.data());
    return error;
  });
}

Error write_block(ShmCollArea& coll_area, int member, std::uint64_t address, const Packed& from,
                  const Comm& comm) {
  if (const std::byte* const run = from.run(); run != nullptr) {
    return coll_area.memory().write(member, address, {run, static_cast<std::size_t>(from.bytes())});
  }
  return by_pieces(from.bytes(), comm, [&](Count at, std::span<std::byte> piece) {
    from.read(at, static_cast<Count>(piece.size()), piece.data());
    return coll_area.memory().write(member, address + static_cast<std::uint64_t>(at), piece);
  });
}

}  // namespace fulmar::mpi
