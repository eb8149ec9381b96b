// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <optional>

#include "base/memcheck.h"
#include "mpi/coll/shm/memory_offers.h"
#include "mpi/coll/shm/shm_movement.h"

/// Single-copy movement of data (memory_offers.h): all-to-all and scatter, whose members read, and
/// gather, whose members write into the root's memory. MPI_IN_PLACE blocks that received ones will
/// overwrite are packed first.
///
/// Where all read the same bytes, as in an allgather or a broadcast, two copies through memory that
/// stays in the caches were faster at every length that was tried.
namespace fulmar::mpi {

using base::Error;
using device::ShmCollArea;

namespace {

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
      has_read = coll_area.has_length(member, static_cast<std::uint64_t>(block)) &&
                 read_block(coll_area, member,
                            offer_of(coll_area, member).address +
                                static_cast<std::uint64_t>(block * comm.rank),
                            Packed(receive[member]), comm)
                     .ok();
    }
    return has_read;
  };
  const bool can_read = run != nullptr && coll_area.memory().reaches_all();
  bool agreed = all_agree(coll_area, given, {number_of(run), 0, can_read ? 1U : 0U});
  if (coll_area.failed()) return failure_of(comm);
  // A rank with short blocks posts its payload in this round, and finds the difference in it, too.
  if (const Error wrong = check_lengths(coll_area, coll_area.size(), block); wrong.failed())
      [[unlikely]] {
    return wrong;
  }
  agreed = agreed && all_agree(coll_area, given, {0, 0, read() ? 1U : 0U});
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
    if (at_root) return true;
    if (!coll_area.has_length(root, static_cast<std::uint64_t>(own.bytes()))) return false;
    const std::uint64_t block =
        offer_of(coll_area, root).address + static_cast<std::uint64_t>(own.bytes() * comm.rank);
    return read_block(coll_area, root, block, own, comm).ok();
  };
  const bool can_read = (run != nullptr || !at_root) && coll_area.memory().reaches_all();
  const bool agreed = all_agree(coll_area, own.bytes(), {number_of(run), 0, can_read ? 1U : 0U}) &&
                      all_agree(coll_area, own.bytes(), {0, 0, read() ? 1U : 0U});
  if (!agreed) {
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

Error gather_write(ShmCollArea& coll_area, const Gather& call, const Comm& comm) {
  const int root = call.root;
  const bool at_root = comm.rank == root;
  const Packed own(at_root ? as_const(call.receive[root]) : call.send);
  std::byte* const run = at_root ? Packed(call.receive[0]).run() : nullptr;
  const bool can_write = (run != nullptr || !at_root) && coll_area.memory().reaches_all();
  bool agreed = all_agree(coll_area, own.bytes(), {0, number_of(run), can_write ? 1U : 0U});
  if (coll_area.failed()) return failure_of(comm);
  if (const Error wrong = check_lengths(coll_area, coll_area.size(), own.bytes()); wrong.failed())
      [[unlikely]] {
    // Members with short blocks post them in pieces, from this round on.
    GatherRounds rounds(coll_area, call, comm, Reads::maybe);
    rounds.begin_with_error(wrong);
    return run_rounds(rounds, 1);
  }
  if (agreed) {
    const std::uint64_t block =
        offer_of(coll_area, root).result + static_cast<std::uint64_t>(own.bytes() * comm.rank);
    const bool has_written = at_root || write_block(coll_area, root, block, own, comm).ok();
    agreed = all_agree(coll_area, own.bytes(), {0, 0, has_written ? 1U : 0U});
  }
  if (!agreed) return coll_area.failed() ? failure_of(comm) : gather_on(coll_area, call, comm);
  if (!at_root) return {};
  base::note_written_by_peer(run, static_cast<std::size_t>(own.bytes() * comm.size()));
  return is_in_place(call.send.address) ? Error{} : copy_data(call.send, call.receive[root]);
}

}  // namespace fulmar::mpi
