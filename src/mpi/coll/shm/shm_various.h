// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "mpi/coll/engine/coll_context.h"
#include "mpi/coll/operations.h"
#include "mpi/coll/shm/shm_rounds.h"

/// The v- and w-forms in which no rank knows the lengths of all blocks: gatherv, scatterv,
/// alltoallv and alltoallw, in one round on a collective area (shm_rounds.h).
///
/// All ranks have to use the same algorithm, and the only lengths that two ranks both know are
/// those of the blocks between them. So every call begins with one round on the area, whatever the
/// lengths, and a block longer than `longest_block` follows in a message. Both sides derive that
/// from the length that its writer posts: the writer decides, and a reader that expected another
/// length still receives the message.
///
/// In an all-to-all every rank waits for the first round of all others, and then knows the longest
/// block of all. Where each rank has a core, long blocks follow in as many rounds as that one
/// needs, instead of messages: both directions at a time are faster that way.
///
/// A payload for several ranks (PartsOut) has its blocks one after the other. Where all have the
/// same length, that is the length in the slot, as in the plain forms; else the payload begins with
/// a table.
namespace fulmar::mpi {

/// The longest block that fits into a payload of `parts` blocks. The same in every rank of `comm`.
[[nodiscard]] Count longest_block(const Comm& comm, const device::ShmCollArea& area,
                                  int parts) noexcept;

/// The blocks of a call that go by messages, after the round.
struct LongBlocks {
  const Blocks* to = nullptr;  ///< null: `own` is the block for every rank
  Data own;
  const Blocks* from = nullptr;
  Data receive;
  bool in_place = false;           ///< the send blocks are where the received blocks go
  std::uint64_t send_to = 0;       ///< bits: ranks
  std::uint64_t receive_from = 0;  ///< bits: ranks

  [[nodiscard]] bool none() const noexcept { return (send_to | receive_from) == 0; }
  [[nodiscard]] Data block_to(int rank) const noexcept { return to != nullptr ? (*to)[rank] : own; }
  [[nodiscard]] Data block_from(int rank) const noexcept {
    return from != nullptr ? (*from)[rank] : receive;
  }
};
CollTask move_long_blocks(CollContext& exchange, const LongBlocks& blocks);

/// The payload that one rank posts for all others.
class PartsOut {
 public:
  PartsOut(const device::ShmCollArea& area, const Blocks& blocks, Count longest) noexcept;

  [[nodiscard]] device::ShmCollArea::Length length() const noexcept { return length_; }
  /// Bits: the ranks whose blocks are left to messages.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }
  /// Bytes of the longest of these; 0: there are none.
  [[nodiscard]] Count longest_left_out() const noexcept { return longest_left_out_; }
  void fill(std::byte* to, base::StoreKind stores) const noexcept;

 private:
  const device::ShmCollArea& area_;
  const Blocks& blocks_;
  Count longest_;
  Count longest_left_out_ = 0;
  device::ShmCollArea::Length length_;
  std::uint64_t left_out_ = 0;
  bool has_table_ = false;
};

class VariousRounds : public ShmRounds {
 public:
  static constexpr bool knows_lengths = false;

  [[nodiscard]] const LongBlocks& long_blocks() const noexcept { return long_; }

 protected:
  VariousRounds(device::ShmCollArea& area, const Comm& comm, int parts) noexcept
      : ShmRounds(area, comm), longest_(longest_block(comm, area, parts)) {
    set_one_round();
  }
  [[nodiscard]] Count longest() const noexcept { return longest_; }
  [[nodiscard]] LongBlocks& long_ones() noexcept { return long_; }
  /// A member has posted its parts (PartsOut): takes the one for this rank, or leaves it to a
  /// message.
  void take_part_of(int member, const Data& to);
  /// It has posted a block for this rank alone.
  void take_block_of(int member, const Data& to);
  /// The longest of the blocks of a member that has posted its parts, for whatever rank.
  [[nodiscard]] Count longest_part_of(int member) const noexcept;

 private:
  void take_bytes(int member, Count given, const std::byte* bytes, const Data& to);

  Count longest_;
  LongBlocks long_;
};

class GathervRounds : public VariousRounds {
 public:
  GathervRounds(device::ShmCollArea& area, const Gatherv& call, const Comm& comm) noexcept;
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Gatherv& call) noexcept;
  /// The longest payload of a rank, as far as this one knows.
  [[nodiscard]] static Count longest_payload(const Comm& comm, const Gatherv& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round);
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const { return result(); }

 private:
  const Gatherv& call_;
  const bool at_root_;
  int step_ = 1;
};

class ScattervRounds : public VariousRounds {
 public:
  ScattervRounds(device::ShmCollArea& area, const Scatterv& call, const Comm& comm) noexcept;
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Scatterv& call) noexcept;
  [[nodiscard]] static Count longest_payload(const Comm& comm, const Scatterv& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round) noexcept;
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

 private:
  const Scatterv& call_;
  const bool at_root_;
  std::optional<PartsOut> out_;  ///< of the root
};

/// MPI_Alltoallv and MPI_Alltoallw.
class AlltoallvRounds : public VariousRounds {
 public:
  AlltoallvRounds(device::ShmCollArea& area, const Alltoall& call, const Comm& comm) noexcept;
  [[nodiscard]] static AreaNeeds needs(const Comm& comm, const Alltoall& call) noexcept;
  [[nodiscard]] static Count longest_payload(const Comm& comm, const Alltoall& call) noexcept;

  [[nodiscard]] std::size_t posted_bytes(Count round) const noexcept;
  [[nodiscard]] bool ready() const noexcept;
  void post(Count round) noexcept;
  Awaited take(Count round);
  [[nodiscard]] base::Error finish() const;

 private:
  void post_pieces(Count round) noexcept;
  Awaited take_first();
  Awaited take_pieces(Count round);
  /// After the first round, in which all have given the lengths of their blocks.
  void choose_rounds() noexcept;

  const Alltoall& call_;
  PartsOut out_;
  Count longest_of_all_;  ///< the longest block, as far as known
  Pieces pieces_{0, 1};   ///< of it, after the first round; none where long blocks are messages
  std::uint64_t pieces_to_ = 0;    ///< bits: ranks that get pieces from this one
  std::uint64_t pieces_from_ = 0;  ///< bits: ranks that this one gets pieces from
  int step_ = 1;
};

/// Blocking: the round, then the messages.
template <class Rounds>
base::Error run_various(Rounds& rounds, Comm& comm, int tag) {
  const base::Error error = run_rounds(rounds);
  if (rounds.long_blocks().none() || rounds.area().failed()) [[likely]]
    return error;
  CollContext exchange(comm, tag);
  const base::Error moved = exchange.run(move_long_blocks(exchange, rounds.long_blocks()));
  return error.failed() ? error : moved;
}

}  // namespace fulmar::mpi
