// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <algorithm>
#include <cstring>
#include <optional>

#include "mpi/coll/shm/shm_movement.h"

/// Single-copy movement of data: each member posts the address of its bytes on the collective area,
/// and the members that need them read them through the kernel. One copy where payloads take two.
/// But each system call costs a microsecond or two and every page is looked up, so it is for long
/// data, and only where ranks share cores: where each has its own, one copies in while the other
/// copies out, and two copies take the time of one.
///
/// Two rounds. In the first a member offers its bytes and posts whether it can read those of all
/// others; in the second it posts that it has read them. No member changes its offered bytes in
/// between. Where one of them cannot read (another user, a refused call), at first or in the
/// middle, all use payloads instead: they all see the same slots.
///
/// Data that are not one run of bytes, and MPI_IN_PLACE blocks that received ones will overwrite,
/// are packed first.
///
/// All-to-all and scatter use this. Where all read the same bytes, as in an allgather, two
/// copies through memory that stays in the caches were faster at every length that was tried; and
/// so they were in a gather, where one rank would make all the copies.
namespace fulmar::mpi {

using base::Error;
using device::ShmCollArea;

namespace {

/// What a member posts in each of the two rounds. Not trusted: the kernel refuses a wrong
/// address.
struct Offer {
  std::uint64_t address;
  std::uint64_t reads;  ///< 1: can read, or has read, the others' memory
};

/// Bytes of the buffer for data whose destination is not one run; small, so that it stays in
/// the caches.
constexpr Count landing_bytes = Count{64} << 10;

Offer offer_of(const ShmCollArea& coll_area, int member) noexcept {
  Offer offer;
  std::memcpy(&offer, coll_area.payload(member, sizeof offer), sizeof offer);
  return offer;
}

/// One round; whether all post that they can read, or have read. A member without bytes may have
/// skipped the call (post_nothing) and posted no offer.
bool all_agree(ShmCollArea& coll_area, Count whole, const Offer& own) noexcept {
  coll_area.post(length_of(sizeof own, whole),
                 [&](std::byte* to, base::StoreKind) { std::memcpy(to, &own, sizeof own); });
  if (!coll_area.wait_all()) return false;
  for (int member = 0; member < coll_area.size(); ++member) {
    if (coll_area.whole_bytes_of(member) == 0 || offer_of(coll_area, member).reads != 1)
      return false;
  }
  return true;
}

/// Both rounds; null is no offer. `read()` reads what this member needs and returns whether it
/// could. False: all of them use payloads.
template <class Read>
bool offer_and_read(ShmCollArea& coll_area, const void* own, Count whole, bool offers,
                    Read&& read) {
  const bool can_read = (own != nullptr || !offers) && coll_area.reaches_all();
  if (!all_agree(coll_area, whole, {reinterpret_cast<std::uintptr_t>(own), can_read ? 1U : 0U})) {
    return false;
  }
  return all_agree(coll_area, whole, {0, read() ? 1U : 0U});
}

const Datatype& byte_type(const Comm& comm) noexcept {
  return *comm.library->find<Datatype>(MPI_BYTE);
}

/// Fills `to` from `from` bytes behind the address that a member offers.
Error read_block(ShmCollArea& coll_area, int member, Count from, const Packed& to,
                 const Comm& comm) {
  const std::uint64_t address =
      offer_of(coll_area, member).address + static_cast<std::uint64_t>(from);
  if (std::byte* const run = to.run(); run != nullptr) {
    return coll_area.read(member, address, {run, static_cast<std::size_t>(to.bytes())});
  }
  const Scratch landing(byte_type(comm), std::min(to.bytes(), landing_bytes));
  if (landing.failed()) return landing.error();
  auto* const bytes = static_cast<std::byte*>(landing.address());
  for (Count at = 0; at < to.bytes(); at += landing_bytes) {
    const Count count = std::min(landing_bytes, to.bytes() - at);
    const Error error = coll_area.read(member, address + static_cast<std::uint64_t>(at),
                                       {bytes, static_cast<std::size_t>(count)});
    if (error.failed()) return error;
    to.write(at, count, bytes);
  }
  return {};
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

Error alltoall_read(ShmCollArea& coll_area, const Alltoall& call, const Comm& comm) {
  const Blocks& send = call.send;
  const Blocks& receive = call.receive;
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
  const auto read = [&] {
    bool has_read = true;
    for (int step = 1; has_read && step < coll_area.size(); ++step) {
      const int member = (coll_area.self() + step) % coll_area.size();
      has_read =
          coll_area.has_length(member, static_cast<std::uint64_t>(block)) &&
          read_block(coll_area, member, block * comm.rank, Packed(receive[member]), comm).ok();
    }
    return has_read;
  };
  const bool can_read = run != nullptr && coll_area.reaches_all();
  bool agreed =
      all_agree(coll_area, given, {reinterpret_cast<std::uintptr_t>(run), can_read ? 1U : 0U});
  if (coll_area.failed()) return failure_of(comm);
  // A rank with short blocks posts its payload in this round, and finds the difference in it, too.
  if (const Error wrong = check_lengths(coll_area, coll_area.size(), block); wrong.failed())
      [[unlikely]] {
    return wrong;
  }
  agreed = agreed && all_agree(coll_area, given, {0, read() ? 1U : 0U});
  if (!agreed) {
    if (coll_area.failed()) return failure_of(comm);
    return alltoall_on(coll_area, Alltoall{source, receive}, comm);
  }
  return send.in_place() ? Error{} : copy_data(send.to(comm.rank), receive[comm.rank]);
}

Error scatter_read(ShmCollArea& coll_area, const Scatter& call, const Comm& comm) {
  const int root = call.root;
  const bool at_root = comm.rank == root;
  const Packed own(at_root ? call.send[root] : call.receive);
  const void* run = at_root ? Packed(call.send[0]).run() : nullptr;
  const auto read = [&] {
    return at_root || (coll_area.has_length(root, static_cast<std::uint64_t>(own.bytes())) &&
                       read_block(coll_area, root, own.bytes() * comm.rank, own, comm).ok());
  };
  if (!offer_and_read(coll_area, run, own.bytes(), at_root, read)) {
    if (coll_area.failed()) return failure_of(comm);
    // The slot is that of the first round where the root did not offer its memory.
    if (!at_root && !coll_area.has_length(root, static_cast<std::uint64_t>(own.bytes())) &&
        !reads_memory(comm, Family::scatter, coll_area.whole_bytes_of(root))) [[unlikely]] {
      ScatterRounds rounds(coll_area, call, comm, Reads::maybe);
      rounds.begin_with_error(check_length(coll_area, root, own.bytes()));
      return run_rounds(rounds, 1);
    }
    return scatter_on(coll_area, call, comm);
  }
  if (!at_root || is_in_place(call.receive.address)) return {};
  return copy_data(call.send.to(root), call.receive);
}

}  // namespace fulmar::mpi
