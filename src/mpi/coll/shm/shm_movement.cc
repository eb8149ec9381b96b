// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/coll/shm/shm_movement.h"

/// Movement of data over a collective area. Each byte is copied into the memory that all ranks map
/// and out of it by each rank that needs it: two copies for a point-to-point transfer, n copies for
/// n readers instead of 2(n - 1) of a tree of messages. A rank waits for another only where it
/// needs its data, or space in its own staging buffer.
///
/// Restrictions: ranks of one node, at most ShmCollArea::max_members; lengths that all ranks know.
namespace fulmar::mpi {

using base::Error;
using base::ErrorClass;
using device::ShmCollArea;

namespace {

constexpr Count kib = 1024;

}  // namespace

Error wrong_length(int member, Count given, Count expected) {
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

BarrierRounds::BarrierRounds(ShmCollArea& area, const Barrier& /*call*/, const Comm& comm) noexcept
    : ShmRounds(area, comm) {}

AreaNeeds BarrierRounds::needs(const Comm& /*comm*/, const Barrier& /*call*/) noexcept {
  return {Family::barrier};
}

bool BarrierRounds::ready() const noexcept {
  for (int member = 0; member < area().size(); ++member) {
    if (member != area().self() && !area().next_arrived(member)) return false;
  }
  return true;
}

void BarrierRounds::post(Count /*round*/) noexcept { area().post(); }
Awaited BarrierRounds::take(Count /*round*/) noexcept { return all_members(); }
Error BarrierRounds::finish() const { return result(); }

Pieces BcastRounds::pieces_of(Count bytes) const noexcept {
  return {bytes, payload_bytes(comm(), area(), bytes, Flow::one_way)};
}

BcastRounds::BcastRounds(ShmCollArea& area, const Bcast& call, const Comm& comm) noexcept
    : ShmRounds(area, comm), data_(call.data), root_(call.root), pieces_(pieces_of(data_.bytes())) {
  set_rounds(pieces_);
}

AreaNeeds BcastRounds::needs(const Comm& /*comm*/, const Bcast& call) noexcept {
  return {Family::bcast, bytes_of(call.data)};
}

std::size_t BcastRounds::posted_bytes(Count round) const noexcept {
  const bool posts = comm().rank == root_ && pieces_.total > 0;
  return posts ? static_cast<std::size_t>(pieces_.length(round)) : 0;
}

bool BcastRounds::ready() const noexcept {
  return comm().rank == root_ || pieces_.total == 0 ||
         area().next_has_length(root_, static_cast<std::uint64_t>(pieces_.total));
}

void BcastRounds::post(Count round) noexcept {
  if (pieces_.total == 0) return post_nothing(area());
  if (comm().rank != root_) return area().post();
  post_part(area(), data_, pieces_.begin(round), pieces_.length(round));
}

Awaited BcastRounds::take(Count round) {
  if (comm().rank == root_ || pieces_.total == 0) return {};
  if (after_error()) [[unlikely]]
    return take_after_error();
  if (!area().arrived(root_)) return Awaited::member(root_);
  if (const Error wrong = check_length(area(), root_, pieces_.total); wrong.failed()) [[unlikely]] {
    note(wrong);
    if (round > 0) return stop(round);
    return follow(round, root_, pieces_of(area().whole_bytes_of(root_)).count() - 1);
  }
  take_part(area(), root_, data_, pieces_.begin(round), pieces_.length(round));
  return {};
}

Error BcastRounds::finish() const { return result(); }

Error bcast_on(ShmCollArea& coll_area, const Bcast& call, const Comm& comm) {
  BcastRounds rounds(coll_area, call, comm);
  return run_rounds(rounds);
}

Error compare_long_blocks(const Comm& comm, Family family, Count bytes) {
  ShmCollArea* const coll_area = comm.coll_area.get();
  if (coll_area == nullptr || idle_area(comm, shm_area_for(comm, {family})) == nullptr) return {};
  coll_area->post(length_of(0, bytes), [](std::byte* /*to*/, base::StoreKind) {});
  if (!coll_area->wait_all()) return failure_of(comm);
  return check_lengths(*coll_area, coll_area->size(), bytes);
}

Pieces GatherRounds::pieces_of(Count bytes) const noexcept {
  return {bytes, payload_bytes(comm(), area(), bytes, Flow::one_way)};
}

GatherRounds::GatherRounds(ShmCollArea& area, const Gather& call, const Comm& comm,
                           Reads reads) noexcept
    : ShmRounds(area, comm),
      call_(call),
      at_root_(comm.rank == call.root),
      reads_(reads),
      own_(at_root_ ? call.receive.to(call.root) : call.send),
      pieces_(pieces_of(own_.bytes())) {
  set_rounds(pieces_);
}

AreaNeeds GatherRounds::needs(const Comm& comm, const Gather& call) noexcept {
  const bool at_root = comm.rank == call.root;
  return {Family::gather, at_root ? bytes_of(call.receive[call.root]) : bytes_of(call.send)};
}

std::size_t GatherRounds::posted_bytes(Count round) const noexcept {
  return at_root_ || pieces_.total == 0 ? 0 : static_cast<std::size_t>(pieces_.length(round));
}

bool GatherRounds::ready() const noexcept {
  return !at_root_ || pieces_.total == 0 || all_next_have_length(pieces_.total, area().size());
}

void GatherRounds::post(Count round) {
  if (pieces_.total == 0) {
    post_nothing(area());
  } else if (at_root_) {
    area().post();
  } else {
    post_part(area(), own_, pieces_.begin(round), pieces_.length(round));
  }
  if (round == 0 && at_root_ && !is_in_place(call_.send.address)) {
    note(copy_data(call_.send, call_.receive[call_.root]));
  }
}

/// Members that reach into memory find the difference in the first round, and add none of their own.
Awaited GatherRounds::follow_members() noexcept {
  return follow_longest([&](std::uint32_t bytes) {
    const bool reaches = reads_ == Reads::maybe && reads_memory(comm(), Family::gather, bytes);
    return reaches ? 1 : pieces_of(bytes).count();
  });
}

void GatherRounds::begin_with_error(const Error& wrong) noexcept {
  if (at_root_) note(wrong);
  follow_members();
}

Awaited GatherRounds::take(Count round) {
  if (!at_root_ || pieces_.total == 0) return {};
  if (after_error()) [[unlikely]]
    return round == 0 ? follow_members() : take_after_error();
  for (; step_ < area().size(); ++step_) {
    const int member = (call_.root + step_) % area().size();
    if (!area().arrived(member)) return Awaited::member(member);
    const Error wrong = check_length(area(), member, pieces_.total);
    if (wrong.failed()) [[unlikely]] {
      note(wrong);
      return follow_members();
    }
    take_part(area(), member, Packed(call_.receive[member]), pieces_.begin(round),
              pieces_.length(round));
  }
  step_ = 1;
  return {};
}

Error GatherRounds::finish() const { return result(); }

Error gather_on(ShmCollArea& coll_area, const Gather& call, const Comm& comm) {
  GatherRounds rounds(coll_area, call, comm, Reads::maybe);
  return run_rounds(rounds);
}

Pieces ScatterRounds::pieces_of(Count block) const noexcept {
  return {block, part_bytes(comm(), area(), block, area().size() - 1, Flow::one_way)};
}

ScatterRounds::ScatterRounds(ShmCollArea& area, const Scatter& call, const Comm& comm,
                             Reads reads) noexcept
    : ShmRounds(area, comm),
      call_(call),
      at_root_(comm.rank == call.root),
      reads_(reads),
      own_(at_root_ ? call.send[call.root] : call.receive),
      pieces_(pieces_of(own_.bytes())) {
  set_rounds(pieces_);
}

AreaNeeds ScatterRounds::needs(const Comm& comm, const Scatter& call) noexcept {
  const bool at_root = comm.rank == call.root;
  return {Family::scatter, bytes_of(at_root ? call.send[call.root] : call.receive)};
}

std::size_t ScatterRounds::posted_bytes(Count round) const noexcept {
  if (!at_root_ || pieces_.total == 0) return 0;
  return static_cast<std::size_t>(pieces_.length(round) * (area().size() - 1));
}

bool ScatterRounds::ready() const noexcept {
  return at_root_ || pieces_.total == 0 ||
         area().next_has_length(call_.root, static_cast<std::uint64_t>(pieces_.total));
}

void ScatterRounds::post(Count round) noexcept {
  if (pieces_.total == 0) return post_nothing(area());
  if (!at_root_) return area().post();
  const Count length = pieces_.length(round);
  area().post({posted_bytes(round), static_cast<std::uint64_t>(pieces_.total)},
              [&](std::byte* to, base::StoreKind stores) {
                for (int member = 0; member < area().size(); ++member) {
                  if (member == call_.root) continue;
                  Packed(call_.send[member])
                      .read(pieces_.begin(round), length, to + length * part_of(member, call_.root),
                            stores);
                }
              });
}

Count ScatterRounds::rounds_of_root() const noexcept {
  const auto bytes = static_cast<Count>(area().whole_bytes_of(call_.root));
  // A root that offers its memory finds out in the same round that this rank does not read it, and
  // starts again with payloads.
  const bool offers = reads_ == Reads::maybe && reads_memory(comm(), Family::scatter, bytes) &&
                      !reads_memory(comm(), Family::scatter, pieces_.total);
  return pieces_of(bytes).count() - 1 + (offers ? 1 : 0);
}

void ScatterRounds::begin_with_error(const Error& wrong) noexcept {
  note(wrong);
  follow(0, call_.root, rounds_of_root());
}

Awaited ScatterRounds::take(Count round) {
  if (at_root_ || pieces_.total == 0) return {};
  if (after_error()) [[unlikely]]
    return take_after_error();
  if (!area().arrived(call_.root)) return Awaited::member(call_.root);
  const Error wrong = check_length(area(), call_.root, pieces_.total);
  if (wrong.failed()) [[unlikely]] {
    note(wrong);
    return round > 0 ? stop(round) : follow(round, call_.root, rounds_of_root());
  }
  const Count length = pieces_.length(round);
  const auto bytes = static_cast<std::size_t>(length * (area().size() - 1));
  own_.write(pieces_.begin(round), length,
             area().payload(call_.root, bytes) + length * part_of(area().self(), call_.root));
  return {};
}

Error ScatterRounds::finish() const {
  if (!at_root_ || is_in_place(call_.receive.address)) return result();
  return result(copy_data(call_.send.to(call_.root), call_.receive));
}

Error scatter_on(ShmCollArea& coll_area, const Scatter& call, const Comm& comm) {
  ScatterRounds rounds(coll_area, call, comm, Reads::maybe);
  return run_rounds(rounds);
}

AllgatherRounds::AllgatherRounds(ShmCollArea& area, const Allgather& call,
                                 const Comm& comm) noexcept
    : ShmRounds(area, comm), call_(call), own_(call.receive[comm.rank]), all_([&] {
        Count longest = 0;
        for (int rank = 0; rank < comm.size(); ++rank) {
          longest = std::max(longest, bytes_of(call.receive[rank]));
        }
        return Pieces{longest, payload_bytes(comm, area, longest, Flow::every_way)};
      }()) {
  set_rounds(all_);
}

AreaNeeds AllgatherRounds::needs(const Comm& comm, const Allgather& call) noexcept {
  return {Family::allgather, call.all_bytes(comm.size())};
}

Count AllgatherRounds::piece_of(Count block, Count round) const noexcept {
  return std::clamp<Count>(block - all_.begin(round), 0, all_.most);
}

std::size_t AllgatherRounds::posted_bytes(Count round) const noexcept {
  return all_.total == 0 ? 0 : static_cast<std::size_t>(piece_of(own_.bytes(), round));
}

bool AllgatherRounds::ready() const noexcept {
  for (int member = 0; member < area().size() && all_.total > 0; ++member) {
    if (member == area().self()) continue;
    const auto bytes = static_cast<std::uint64_t>(bytes_of(call_.receive[member]));
    if (!area().next_has_length(member, bytes)) return false;
  }
  return true;
}

void AllgatherRounds::post(Count round) {
  if (round == 0 && !is_in_place(call_.send.address)) {
    note(copy_data(call_.send, call_.receive[area().self()]));
  }
  if (all_.total == 0) return post_nothing(area());
  exchange_part(area(), own_, all_.begin(round), piece_of(own_.bytes(), round));
}

Awaited AllgatherRounds::take(Count round) {
  if (all_.total == 0 || after_error()) return {};
  for (; step_ < area().size(); ++step_) {
    const int member = (area().self() + step_) % area().size();
    if (!area().arrived(member)) return Awaited::member(member);
    const Packed block(call_.receive[member]);
    const Error wrong = check_length(area(), member, block.bytes());
    if (wrong.failed()) [[unlikely]] {
      note(wrong);
      return stop(round);
    }
    take_part(area(), member, block, all_.begin(round), piece_of(block.bytes(), round));
  }
  step_ = 1;
  return all_members();
}

Error AllgatherRounds::finish() const { return result(); }

Error allgather_on(ShmCollArea& coll_area, const Allgather& call, const Comm& comm) {
  AllgatherRounds rounds(coll_area, call, comm);
  return run_rounds(rounds);
}

AlltoallRounds::AlltoallRounds(ShmCollArea& area, const Alltoall& call, const Comm& comm) noexcept
    : ShmRounds(area, comm),
      call_(call),
      block_(bytes_of(call.receive[comm.rank])),
      pieces_{block_, part_bytes(comm, area, block_, comm.size() - 1, Flow::every_way)} {
  set_rounds(pieces_);
}

AreaNeeds AlltoallRounds::needs(const Comm& /*comm*/, const Alltoall& call) noexcept {
  return {Family::alltoall, bytes_of(call.receive[0])};
}

std::size_t AlltoallRounds::posted_bytes(Count round) const noexcept {
  if (block_ == 0) return 0;
  return static_cast<std::size_t>(pieces_.length(round) * (area().size() - 1));
}

bool AlltoallRounds::ready() const noexcept {
  return block_ == 0 || all_next_have_length(block_, area().size());
}

void AlltoallRounds::post(Count round) noexcept {
  if (block_ == 0) return post_nothing(area());
  const int self = area().self();
  const Count length = pieces_.length(round);
  const auto given = static_cast<std::uint64_t>(bytes_of(from()[self]));
  area().post_exchange({posted_bytes(round), given}, [&](std::byte* to, base::StoreKind stores) {
    for (int member = 0; member < area().size(); ++member) {
      if (member == self) continue;
      Packed(from()[member])
          .read(pieces_.begin(round), length, to + length * part_of(member, self), stores);
    }
  });
}

Awaited AlltoallRounds::take(Count round) {
  if (block_ == 0 || after_error()) return {};
  const int self = area().self();
  const Count length = pieces_.length(round);
  for (; step_ < area().size(); ++step_) {
    const int member = (self + step_) % area().size();
    if (!area().arrived(member)) return Awaited::member(member);
    const Error wrong = check_length(area(), member, block_);
    if (wrong.failed()) [[unlikely]] {
      note(wrong);
      return stop(round);
    }
    const std::byte* part =
        area().payload(member, posted_bytes(round)) + length * part_of(self, member);
    Packed(call_.receive[member]).write(pieces_.begin(round), length, part);
  }
  step_ = 1;
  return all_members();
}

Error AlltoallRounds::finish() const {
  const Error so_far = result();
  if (so_far.failed() || call_.send.in_place()) return so_far;
  return copy_data(call_.send.to(area().self()), call_.receive[area().self()]);
}

Error alltoall_on(ShmCollArea& coll_area, const Alltoall& call, const Comm& comm) {
  AlltoallRounds rounds(coll_area, call, comm);
  return run_rounds(rounds);
}

}  // namespace fulmar::mpi
