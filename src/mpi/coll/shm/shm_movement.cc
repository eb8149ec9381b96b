// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/shm/shm_coll.h"

#include <vector>

/// Movement of data over a collective area. Each byte is copied into the memory that all ranks map and out of
/// it by each rank that wants it: two copies on the way of a message, n copies for n readers
/// instead of 2(n - 1) of a tree of messages. One rank waits for another only where it needs its
/// data or the room of its own payloads.
///
/// Restrictions: ranks of one node, at most ShmCollArea::max_members; lengths that all ranks know.
namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using device::ShmCollArea;

namespace {

constexpr Count kib = 1024;

/// Goes on with a root that cuts other data than this rank expected, after its first piece.
void follow(ShmCollArea& coll_area, int root, const Pieces& pieces) noexcept {
  for (Count i = 1; i < pieces.count(); ++i) {
    coll_area.post();
    if (!coll_area.wait_for(root)) return;
  }
}

}  // namespace

Error wrong_length(const ShmCollArea& coll_area, int member, Count expected) {
  const Count given = coll_area.whole_bytes_of(member);
  return base::failure(given > expected ? ErrorClass::truncate : ErrorClass::count,
                       "rank %d gave %lld bytes where this rank expects %lld; give the same counts "
                       "and types in all ranks, or set FULMAR_CHECK=collectives to see who calls "
                       "what",
                       member, static_cast<long long>(given), static_cast<long long>(expected));
}

Count payload_bytes(const Comm& comm, const ShmCollArea& coll_area, Count total,
                    Flow flow) noexcept {
  if (total <= uncut_bytes) return std::max<Count>(total, 1);
  const auto largest = static_cast<Count>(coll_area.largest_payload());
  if (total <= 4 * kib || crowded(comm)) return std::min(largest, std::max<Count>(total, 1));
  const Count piece = flow == Flow::one_way ? std::clamp(total / 4, 4 * kib, 32 * kib)
                                            : std::clamp(total / 2, 4 * kib, 128 * kib);
  return std::min(largest, piece);
}

Count part_bytes(const Comm& comm, const ShmCollArea& coll_area, Count total, int parts,
                 Flow flow) noexcept {
  if (total * parts <= uncut_bytes) return std::max<Count>(total, 1);
  return std::max<Count>(payload_bytes(comm, coll_area, total * parts, flow) / parts, 1);
}

void go_on(ShmCollArea& coll_area, int last, Count expected, Count rounds) noexcept {
  std::vector<int> others;
  for (int member = 0; member < last; ++member) {
    if (member == coll_area.self()) continue;
    if (!coll_area.wait_for(member)) return;
    if (coll_area.tells(member, static_cast<std::uint64_t>(expected))) others.push_back(member);
  }
  if (others.empty()) return;
  for (; rounds > 0; --rounds) {
    coll_area.post();
    for (const int member : others) {
      if (!coll_area.wait_for(member)) return;
    }
  }
}

Error bcast_on(ShmCollArea& coll_area, const Data& data, int root, const Comm& comm) {
  const Packed packed(data);
  const auto pieces_of = [&](Count bytes) {
    return Pieces{bytes, payload_bytes(comm, coll_area, bytes, Flow::one_way)};
  };
  const Pieces pieces = pieces_of(packed.bytes());
  if (pieces.count() == 0) post_nothing(coll_area);
  for (Count i = 0; i < pieces.count(); ++i) {
    if (comm.rank == root) {
      post_part(coll_area, packed, pieces.begin(i), pieces.length(i));
      continue;
    }
    coll_area.post();
    if (!coll_area.wait_for(root)) return failure_of(comm);
    if (const Error wrong = check_length(coll_area, root, packed.bytes()); wrong.failed())
        [[unlikely]] {
      if (i == 0) follow(coll_area, root, pieces_of(coll_area.whole_bytes_of(root)));
      return wrong;
    }
    take_part(coll_area, root, packed, pieces.begin(i), pieces.length(i));
  }
  return result_on(coll_area, comm);
}

Error compare_long_blocks(const Comm& comm, Family family, Count bytes) {
  ShmCollArea* const coll_area = comm.coll_area.get();
  if (coll_area == nullptr || shm_area_for(comm, family, 0) == nullptr) return {};
  coll_area->post(length_of(0, bytes), [](std::byte* /*to*/) {});
  if (!coll_area->wait_all()) return failure_of(comm);
  return check_lengths(*coll_area, coll_area->size(), bytes);
}

Error gather_on(ShmCollArea& coll_area, const ConstData& send, const Blocks& receive, int root,
                const Comm& comm) {
  const bool at_root = comm.rank == root;
  const Packed own(at_root ? receive.to(root) : send);
  const Pieces pieces{own.bytes(), payload_bytes(comm, coll_area, own.bytes(), Flow::one_way)};
  Error error;
  if (at_root && !is_in_place(send.address)) error = copy_data(send, receive[root]);
  if (pieces.count() == 0) post_nothing(coll_area);
  for (Count i = 0; i < pieces.count(); ++i) {
    if (!at_root) {
      post_part(coll_area, own, pieces.begin(i), pieces.length(i));
      continue;
    }
    coll_area.post();
    for (int step = 1; step < comm.size(); ++step) {
      const int member = (root + step) % comm.size();
      if (!coll_area.wait_for(member)) return failure_of(comm);
      const Error wrong = check_length(coll_area, member, own.bytes());
      if (wrong.failed()) [[unlikely]] {
        go_on(coll_area, coll_area.size(), own.bytes(), pieces.count() - 1 - i);
        return wrong;
      }
      take_part(coll_area, member, Packed(receive[member]), pieces.begin(i), pieces.length(i));
    }
  }
  return result_on(coll_area, comm, error);
}

void follow_scatter(ShmCollArea& coll_area, int root, Count expected, const Comm& comm) noexcept {
  const auto bytes = static_cast<Count>(coll_area.whole_bytes_of(root));
  // A root that offers its memory finds out in the same round that this rank does not read it, and
  // begins again with payloads.
  if (reads_memory(comm, Family::scatter, bytes) &&
      !reads_memory(comm, Family::scatter, expected)) {
    coll_area.post();
    if (!coll_area.wait_for(root)) return;
  }
  follow(coll_area, root,
         {bytes, part_bytes(comm, coll_area, bytes, comm.size() - 1, Flow::one_way)});
}

Error scatter_on(ShmCollArea& coll_area, const Blocks& send, const Data& receive, int root,
                 const Comm& comm) {
  const int others = comm.size() - 1;
  const bool at_root = comm.rank == root;
  const Packed own(at_root ? send[root] : receive);
  const Pieces pieces{own.bytes(), part_bytes(comm, coll_area, own.bytes(), others, Flow::one_way)};
  Error error;
  if (pieces.count() == 0) post_nothing(coll_area);
  for (Count i = 0; i < pieces.count(); ++i) {
    const Count length = pieces.length(i);
    const auto bytes = static_cast<std::size_t>(length * others);
    if (!at_root) {
      coll_area.post();
      if (!coll_area.wait_for(root)) return failure_of(comm);
      const Error wrong = check_length(coll_area, root, own.bytes());
      if (wrong.failed()) [[unlikely]] {
        if (i == 0) follow_scatter(coll_area, root, own.bytes(), comm);
        return wrong;
      }
      own.write(pieces.begin(i), length,
                coll_area.payload(root, bytes) + length * part_of(comm.rank, root));
      continue;
    }
    coll_area.post({bytes, static_cast<std::uint64_t>(own.bytes())}, [&](std::byte* to) {
      for (int member = 0; member < comm.size(); ++member) {
        if (member == root) continue;
        Packed(send[member]).read(pieces.begin(i), length, to + length * part_of(member, root));
      }
    });
  }
  if (at_root && !is_in_place(receive.address)) error = copy_data(send.to(root), receive);
  return result_on(coll_area, comm, error);
}

Error allgather_on(ShmCollArea& coll_area, const ConstData& send, const Blocks& receive,
                   const Comm& comm) {
  Error error;
  if (!is_in_place(send.address)) error = copy_data(send, receive[comm.rank]);
  Count longest = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    longest = std::max(longest, bytes_of(receive[rank]));
  }
  const Packed own(receive[comm.rank]);
  const Pieces all{longest, payload_bytes(comm, coll_area, longest, Flow::every_way)};
  if (all.count() == 0) post_nothing(coll_area);
  for (Count i = 0; i < all.count(); ++i) {
    const auto piece_of = [&](Count bytes) {
      return std::clamp<Count>(bytes - all.begin(i), 0, all.most);
    };
    exchange_part(coll_area, own, all.begin(i), piece_of(own.bytes()));
    for (int step = 1; step < comm.size(); ++step) {
      const int member = (comm.rank + step) % comm.size();
      const Packed block(receive[member]);
      if (!coll_area.wait_for(member)) return failure_of(comm);
      const Error wrong = check_length(coll_area, member, block.bytes());
      if (wrong.failed()) [[unlikely]]
        return wrong;
      take_part(coll_area, member, block, all.begin(i), piece_of(block.bytes()));
    }
    if (!coll_area.wait_all()) return failure_of(comm);
  }
  return result_on(coll_area, comm, error);
}

Error alltoall_on(ShmCollArea& coll_area, const Blocks& send, const Blocks& receive,
                  const Comm& comm) {
  const int self = comm.rank;
  const int others = comm.size() - 1;
  const Blocks& from = send.in_place() ? receive : send;
  const Count block = bytes_of(receive[self]);
  const Pieces pieces{block, part_bytes(comm, coll_area, block, others, Flow::every_way)};
  const auto given = static_cast<std::uint64_t>(bytes_of(from[self]));
  if (pieces.count() == 0) post_nothing(coll_area);
  for (Count i = 0; i < pieces.count(); ++i) {
    const Count begin = pieces.begin(i);
    const Count length = pieces.length(i);
    const auto bytes = static_cast<std::size_t>(length * others);
    coll_area.post_exchange({bytes, given}, [&](std::byte* to) {
      for (int member = 0; member < comm.size(); ++member) {
        if (member == self) continue;
        Packed(from[member]).read(begin, length, to + length * part_of(member, self));
      }
    });
    for (int step = 1; step < comm.size(); ++step) {
      const int member = (self + step) % comm.size();
      if (!coll_area.wait_for(member)) return failure_of(comm);
      const Error wrong = check_length(coll_area, member, block);
      if (wrong.failed()) [[unlikely]]
        return wrong;
      const std::byte* part = coll_area.payload(member, bytes) + length * part_of(self, member);
      Packed(receive[member]).write(begin, length, part);
    }
    if (!coll_area.wait_all()) return failure_of(comm);
  }
  if (coll_area.failed()) return failure_of(comm);
  return send.in_place() ? Error{} : copy_data(send.to(self), receive[self]);
}

}  // namespace fulmar::mpi
