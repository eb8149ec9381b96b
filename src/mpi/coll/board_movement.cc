// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/board.h"

#include <vector>

/// Movement of data over a board. Each byte is copied into the memory that all ranks map and out of
/// it by each rank that wants it: two copies on the way of a message, n copies for n readers
/// instead of 2(n - 1) of a tree of messages. One rank waits for another only where it needs its
/// data or the room of its own texts.
///
/// Restrictions: ranks of one node, at most NodeBoard::max_members; lengths that all ranks know.
namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using device::NodeBoard;

namespace {

constexpr Count kib = 1024;

/// Goes on with a root that cuts other data than this rank expected, after its first piece.
void follow(NodeBoard& board, int root, const Pieces& pieces) noexcept {
  for (Count i = 1; i < pieces.count(); ++i) {
    board.post();
    board.wait_for(root);
  }
}

}  // namespace

Error wrong_length(const NodeBoard& board, int member, Count expected) {
  const Count given = board.whole_bytes_of(member);
  return base::failure(given > expected ? ErrorClass::truncate : ErrorClass::count,
                       "rank %d gave %lld bytes where this rank expects %lld; give the same counts "
                       "and types in all ranks, or set FULMAR_CHECK=collectives to see who calls "
                       "what",
                       member, static_cast<long long>(given), static_cast<long long>(expected));
}

Count text_bytes(const Comm& comm, const NodeBoard& board, Count total, Flow flow) noexcept {
  if (total <= uncut_bytes) return std::max<Count>(total, 1);
  const auto largest = static_cast<Count>(board.largest_text());
  if (total <= 4 * kib || crowded(comm)) return std::min(largest, std::max<Count>(total, 1));
  const Count piece = flow == Flow::one_way ? std::clamp(total / 4, 4 * kib, 32 * kib)
                                            : std::clamp(total / 2, 4 * kib, 128 * kib);
  return std::min(largest, piece);
}

Count part_bytes(const Comm& comm, const NodeBoard& board, Count total, int parts,
                 Flow flow) noexcept {
  if (total * parts <= uncut_bytes) return std::max<Count>(total, 1);
  return std::max<Count>(text_bytes(comm, board, total * parts, flow) / parts, 1);
}

void go_on(NodeBoard& board, int last, Count expected, Count rounds) noexcept {
  std::vector<int> others;
  for (int member = 0; member < last; ++member) {
    if (member == board.self()) continue;
    board.wait_for(member);
    if (board.tells(member, static_cast<std::uint64_t>(expected))) others.push_back(member);
  }
  if (others.empty()) return;
  for (; rounds > 0; --rounds) {
    board.post();
    for (const int member : others) board.wait_for(member);
  }
}

Error bcast_on(NodeBoard& board, const Data& data, int root, const Comm& comm) {
  const Packed packed(data);
  const auto pieces_of = [&](Count bytes) {
    return Pieces{bytes, text_bytes(comm, board, bytes, Flow::one_way)};
  };
  const Pieces pieces = pieces_of(packed.bytes());
  if (pieces.count() == 0) post_nothing(board);
  for (Count i = 0; i < pieces.count(); ++i) {
    if (comm.rank == root) {
      post_part(board, packed, pieces.begin(i), pieces.length(i));
      continue;
    }
    board.post();
    board.wait_for(root);
    if (const Error wrong = check_length(board, root, packed.bytes()); wrong.failed())
        [[unlikely]] {
      if (i == 0) follow(board, root, pieces_of(board.whole_bytes_of(root)));
      return wrong;
    }
    take_part(board, root, packed, pieces.begin(i), pieces.length(i));
  }
  return {};
}

Error gather_on(NodeBoard& board, const ConstData& send, const Blocks& receive, int root,
                const Comm& comm) {
  const bool at_root = comm.rank == root;
  const Packed own(at_root ? receive.to(root) : send);
  const Pieces pieces{own.bytes(), text_bytes(comm, board, own.bytes(), Flow::one_way)};
  Error error;
  if (at_root && !is_in_place(send.address)) error = copy_data(send, receive[root]);
  if (pieces.count() == 0) post_nothing(board);
  for (Count i = 0; i < pieces.count(); ++i) {
    if (!at_root) {
      post_part(board, own, pieces.begin(i), pieces.length(i));
      continue;
    }
    board.post();
    for (int step = 1; step < comm.size(); ++step) {
      const int member = (root + step) % comm.size();
      board.wait_for(member);
      const Error wrong = check_length(board, member, own.bytes());
      if (wrong.failed()) [[unlikely]] {
        go_on(board, board.size(), own.bytes(), pieces.count() - 1 - i);
        return wrong;
      }
      take_part(board, member, Packed(receive[member]), pieces.begin(i), pieces.length(i));
    }
  }
  return error;
}

void follow_scatter(NodeBoard& board, int root, Count expected, const Comm& comm) noexcept {
  const auto bytes = static_cast<Count>(board.whole_bytes_of(root));
  // A root that offers its memory finds out in the same round that this rank does not read it, and
  // begins again with texts.
  if (reads_memory(comm, Family::scatter, bytes) &&
      !reads_memory(comm, Family::scatter, expected)) {
    board.post();
    board.wait_for(root);
  }
  follow(board, root, {bytes, part_bytes(comm, board, bytes, comm.size() - 1, Flow::one_way)});
}

Error scatter_on(NodeBoard& board, const Blocks& send, const Data& receive, int root,
                 const Comm& comm) {
  const int others = comm.size() - 1;
  const bool at_root = comm.rank == root;
  const Packed own(at_root ? send[root] : receive);
  const Pieces pieces{own.bytes(), part_bytes(comm, board, own.bytes(), others, Flow::one_way)};
  Error error;
  if (pieces.count() == 0) post_nothing(board);
  for (Count i = 0; i < pieces.count(); ++i) {
    const Count length = pieces.length(i);
    const auto bytes = static_cast<std::size_t>(length * others);
    if (!at_root) {
      board.post();
      board.wait_for(root);
      const Error wrong = check_length(board, root, own.bytes());
      if (wrong.failed()) [[unlikely]] {
        if (i == 0) follow_scatter(board, root, own.bytes(), comm);
        return wrong;
      }
      own.write(pieces.begin(i), length,
                board.text(root, bytes) + length * part_of(comm.rank, root));
      continue;
    }
    board.post({bytes, static_cast<std::uint64_t>(own.bytes())}, [&](std::byte* to) {
      for (int member = 0; member < comm.size(); ++member) {
        if (member == root) continue;
        Packed(send[member]).read(pieces.begin(i), length, to + length * part_of(member, root));
      }
    });
  }
  if (at_root && !is_in_place(receive.address)) error = copy_data(send.to(root), receive);
  return error;
}

Error allgather_on(NodeBoard& board, const ConstData& send, const Blocks& receive,
                   const Comm& comm) {
  Error error;
  if (!is_in_place(send.address)) error = copy_data(send, receive[comm.rank]);
  Count longest = 0;
  for (int rank = 0; rank < comm.size(); ++rank) {
    longest = std::max(longest, bytes_of(receive[rank]));
  }
  const Packed own(receive[comm.rank]);
  const Pieces all{longest, text_bytes(comm, board, longest, Flow::every_way)};
  if (all.count() == 0) post_nothing(board);
  for (Count i = 0; i < all.count(); ++i) {
    const auto piece_of = [&](Count bytes) {
      return std::clamp<Count>(bytes - all.begin(i), 0, all.most);
    };
    exchange_part(board, own, all.begin(i), piece_of(own.bytes()));
    for (int step = 1; step < comm.size(); ++step) {
      const int member = (comm.rank + step) % comm.size();
      const Packed block(receive[member]);
      board.wait_for(member);
      const Error wrong = check_length(board, member, block.bytes());
      if (wrong.failed()) [[unlikely]]
        return wrong;
      take_part(board, member, block, all.begin(i), piece_of(block.bytes()));
    }
    board.wait_all();
  }
  return error;
}

Error alltoall_on(NodeBoard& board, const Blocks& send, const Blocks& receive, const Comm& comm) {
  const int self = comm.rank;
  const int others = comm.size() - 1;
  const Blocks& from = send.in_place() ? receive : send;
  const Count block = bytes_of(receive[self]);
  const Pieces pieces{block, part_bytes(comm, board, block, others, Flow::every_way)};
  const auto given = static_cast<std::uint64_t>(bytes_of(from[self]));
  if (pieces.count() == 0) post_nothing(board);
  for (Count i = 0; i < pieces.count(); ++i) {
    const Count begin = pieces.begin(i);
    const Count length = pieces.length(i);
    const auto bytes = static_cast<std::size_t>(length * others);
    board.post_exchange({bytes, given}, [&](std::byte* to) {
      for (int member = 0; member < comm.size(); ++member) {
        if (member == self) continue;
        Packed(from[member]).read(begin, length, to + length * part_of(member, self));
      }
    });
    for (int step = 1; step < comm.size(); ++step) {
      const int member = (self + step) % comm.size();
      board.wait_for(member);
      const Error wrong = check_length(board, member, block);
      if (wrong.failed()) [[unlikely]]
        return wrong;
      const std::byte* part = board.text(member, bytes) + length * part_of(self, member);
      Packed(receive[member]).write(begin, length, part);
    }
    board.wait_all();
  }
  return send.in_place() ? Error{} : copy_data(send.to(self), receive[self]);
}

}  // namespace fulmar::mpi
