// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>
#include <optional>

#include "mpi/coll/board.h"

/// Movement of data that goes over a board in words only: each member tells where its bytes lie,
/// and who wants them reads them there through the kernel. One copy where texts take two. But each
/// call of the kernel costs a microsecond or two and every page is looked up, so it is for long
/// data, and only where ranks share cores: where each has its own, one copies in while the other
/// copies out, and two copies take the time of one.
///
/// Two rounds. In the first a member offers its bytes and says whether it can read those of all
/// others; in the second it says that it has. Nobody touches what it offered in between. Where one
/// of them cannot (another user, a refused call), at first or in the middle, all take texts
/// instead: they know it from the same notices.
///
/// What is no run of bytes, and what is in place, where others' blocks will lie, is packed first.
///
/// Only an all-to-all goes this way: where all read the same bytes, as in an allgather, two copies
/// through memory that stays in the caches were faster at every length that was tried.
namespace fulmar::mpi {

using base::Error;
using device::NodeBoard;

namespace {

/// What a member tells in each of the two rounds. Its word: an address that is wrong is an error of
/// the kernel's.
struct Offer {
  std::uint64_t address;
  std::uint64_t reads;  ///< 1: can read, or has read, the others' memory
};

/// Room for data that do not lie in the memory they go to in one run; small, so that it stays in
/// the caches.
constexpr Count landing_bytes = Count{64} << 10;

Offer offer_of(const NodeBoard& board, int member) noexcept {
  Offer offer;
  std::memcpy(&offer, board.text(member, sizeof offer), sizeof offer);
  return offer;
}

/// One round; whether all say that they can, or have.
bool all_agree(NodeBoard& board, Count whole, const Offer& own) noexcept {
  board.post(length_of(sizeof own, whole),
             [&](std::byte* to) { std::memcpy(to, &own, sizeof own); });
  board.wait_all();
  for (int member = 0; member < board.size(); ++member) {
    if (member != board.self() && offer_of(board, member).reads != 1) return false;
  }
  return own.reads == 1;
}

/// Both rounds; null is no offer. `length` is what each member should have in all,
/// `take(member, address)` reads from one. False: all of them take texts.
template <class Take>
bool read_others(NodeBoard& board, const void* own, Count whole, Count length, Take&& take) {
  const bool can_read = own != nullptr && board.reaches_all();
  if (!all_agree(board, whole, {reinterpret_cast<std::uintptr_t>(own), can_read ? 1U : 0U})) {
    return false;
  }
  bool has_read = true;
  for (int step = 1; has_read && step < board.size(); ++step) {
    const int member = (board.self() + step) % board.size();
    has_read = board.tells(member, static_cast<std::uint64_t>(length)) &&
               take(member, offer_of(board, member).address).ok();
  }
  return all_agree(board, whole, {0, has_read ? 1U : 0U});
}

/// Fills `to` with what lies at a member's address.
Error read_from(NodeBoard& board, int member, std::uint64_t address, const Packed& to,
                const Datatype& byte) {
  if (std::byte* const run = to.run(); run != nullptr) {
    return board.read(member, address, {run, static_cast<std::size_t>(to.bytes())});
  }
  const Scratch landing(byte, std::min(to.bytes(), landing_bytes));
  if (landing.failed()) return landing.error();
  auto* const room = static_cast<std::byte*>(landing.address());
  for (Count at = 0; at < to.bytes(); at += landing_bytes) {
    const Count count = std::min(landing_bytes, to.bytes() - at);
    const Error error = board.read(member, address + static_cast<std::uint64_t>(at),
                                   {room, static_cast<std::size_t>(count)});
    if (error.failed()) return error;
    to.write(at, count, room);
  }
  return {};
}

const Datatype& byte_type(const Comm& comm) noexcept {
  return *comm.library->find<Datatype>(MPI_BYTE);
}

/// Equal blocks behind each other in memory of their own.
Scratch packed(const Blocks& blocks, Count block, const Comm& comm) {
  Scratch memory(byte_type(comm), block * comm.size());
  if (memory.failed()) return memory;
  auto* const to = static_cast<std::byte*>(memory.address());
  for (int rank = 0; rank < comm.size(); ++rank) {
    Packed(blocks[rank]).read(0, block, to + block * rank);
  }
  return memory;
}

}  // namespace

Error alltoall_read(NodeBoard& board, const Blocks& send, const Blocks& receive, const Comm& comm) {
  const Blocks& from = send.in_place() ? receive : send;
  const Count given = bytes_of(from[0]);
  const Count block = bytes_of(receive[0]);
  const void* run = send.in_place() ? nullptr : Packed(send[0]).run();
  std::optional<Scratch> copy;
  Blocks source = send;
  if (run == nullptr) {
    copy.emplace(packed(from, given, comm));
    run = copy->address();
    if (run != nullptr) source = Blocks::equal(ConstData{run, given, &byte_type(comm)});
  }
  const auto take = [&](int member, std::uint64_t address) {
    const Packed to(receive[member]);
    return read_from(board, member, address + static_cast<std::uint64_t>(block * comm.rank), to,
                     byte_type(comm));
  };
  if (!read_others(board, run, given, block, take)) {
    return alltoall_on(board, source, receive, comm);
  }
  return send.in_place() ? Error{} : copy_data(send.to(comm.rank), receive[comm.rank]);
}

}  // namespace fulmar::mpi
