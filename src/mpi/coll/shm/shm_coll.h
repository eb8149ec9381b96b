// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <optional>

#include "device/shm_coll/shm_coll_area.h"
#include "mpi/coll/blocks.h"
#include "mpi/coll/choice.h"
#include "mpi/coll/engine/schedules.h"
#include "mpi/comm/comm.h"
#include "mpi/comm/failure.h"
#include "mpi/request/request.h"

/// Typed data on a collective area (device/shm_coll/shm_coll_area.h): the way of collective calls
/// among the ranks of a node. Blocking and non-blocking calls use the area of the communicator.
/// Each rank may start the persistent requests of a communicator in another order (MPI 5.0 section
/// 6.13), while rounds of an area follow each other; so each request has an area of its own
/// (request_area.h). Whether a call goes this way depends on numbers of bytes that are the same in
/// every rank, never on datatypes, which need not be.
///
/// Data longer than a payload are cut into pieces, one for each round. All ranks cut alike if they
/// all have the same length: each posts its length, and a rank that finds a difference returns
///
///     MPI_ERR_TRUNCATE   a rank gave more than this one expects
///     MPI_ERR_COUNT      it gave less
///
/// in the first round, as ranks would otherwise wait for different numbers of rounds. It posts as
/// many rounds as the root of a broadcast or scatter; in all other calls none goes on to a second
/// round, so that the communicator can still be used.
namespace fulmar::mpi {

/// Whether payloads may be longer than `uncut_bytes`.
[[nodiscard]] inline bool is_staged(const device::ShmCollArea& coll_area) noexcept {
  return coll_area.largest_payload() > wire::coll_block_bytes;
}

/// What a call needs of a collective area. The same in all ranks of a correct program.
struct AreaNeeds {
  Family family;
  Count bytes = 0;    ///< those of the family's lines in the table of algorithms
  Count payload = 0;  ///< that one rank posts in one round at least
};

/// Whether a call takes an area that the ranks of `comm` have.
[[nodiscard]] inline bool takes_area(const Comm& comm, const device::ShmCollArea& coll_area,
                                     const AreaNeeds& needs) noexcept {
  if (!comm.library->schedules->choices().takes_shm(needs.family, comm.size(), needs.bytes))
    return false;
  const auto largest = static_cast<Count>(coll_area.largest_payload());
  return needs.payload <= largest && (is_staged(coll_area) || needs.bytes <= largest);
}
/// The collective area, if the communicator has one and a call takes it.
[[nodiscard]] inline device::ShmCollArea* shm_area_for(const Comm& comm,
                                                       const AreaNeeds& needs) noexcept {
  device::ShmCollArea* coll_area = comm.coll_area.get();
  return coll_area != nullptr && takes_area(comm, *coll_area, needs) ? coll_area : nullptr;
}
/// The same for a blocking call: waits until earlier non-blocking calls are over.
[[nodiscard]] inline device::ShmCollArea* idle_area(const Comm& comm,
                                                    device::ShmCollArea* area) noexcept {
  if (comm.area_tasks != nullptr && area != nullptr) [[unlikely]] {
    comm.library->schedules->area_queues().wait_until_empty(comm);
    return comm.coll_area.get() == area ? area : nullptr;  // a member may have failed meanwhile
  }
  return area;
}

/// Whether the members of such a call reach into each other's memory (memory_offers.h).
[[nodiscard]] inline bool reads_memory(const Comm& comm, Family family, Count bytes) noexcept {
  return bytes > 0 && comm.library->schedules->choices().takes_reads(family, comm.size(), bytes);
}

/// How `total` bytes (or elements) are cut.
struct Pieces {
  Count total;
  Count most;  ///< in one piece, at least 1

  [[nodiscard]] Count count() const noexcept {
    if (total <= most) [[likely]]
      return total > 0 ? 1 : 0;
    return (total + most - 1) / most;
  }
  [[nodiscard]] Count begin(Count piece) const noexcept { return piece * most; }
  [[nodiscard]] Count length(Count piece) const noexcept {
    return std::min(most, total - piece * most);
  }
};

/// Data of up to this many bytes are one payload on any collective area.
inline constexpr Count uncut_bytes = wire::coll_block_bytes;

/// Which ranks write while others read.
enum class Flow : std::uint8_t {
  one_way,    ///< from one rank to the others, or from them to one
  every_way,  ///< between all: each writes its payload, then reads those of the others
};

/// Bytes of one payload. Where every rank has a core, one rank fills a piece while others empty the
/// one before; if all do the same at the same time, pieces need only be short enough for the
/// caches. Where ranks share cores, the fewer turns the better.
[[nodiscard]] Count payload_bytes(const Comm& comm, const device::ShmCollArea& coll_area,
                                  Count total, Flow flow) noexcept;
/// The same for payloads that hold a part for each of several ranks: bytes of one part, at least 1.
[[nodiscard]] Count part_bytes(const Comm& comm, const device::ShmCollArea& coll_area, Count total,
                               int parts, Flow flow) noexcept;

/// Whether ranks share cores.
[[nodiscard]] inline bool crowded(const Comm& comm) noexcept {
  return comm.library->schedules->choices().crowded();
}

/// The index of a member's part in a payload that has a part for each member but the writer.
[[nodiscard]] constexpr int part_of(int member, int writer) noexcept {
  return member < writer ? member : member - 1;
}

/// A buffer of the user as packed bytes.
class Packed {
 public:
  explicit Packed(const ConstData& data) noexcept : buffer_(buffer_of(data, packer_)) {}
  explicit Packed(const Data& data) noexcept : Packed(as_const(data)) {}
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;

  [[nodiscard]] Count bytes() const noexcept { return static_cast<Count>(buffer_.bytes); }
  /// The address of the bytes if they are one run, else null.
  [[nodiscard]] std::byte* run() const noexcept {
    return buffer_.packer == nullptr ? static_cast<std::byte*>(buffer_.address) : nullptr;
  }
  /// Copies bytes [from, from + count) out; nothing beyond the end.
  void read(Count from, Count count, std::byte* to,
            base::StoreKind stores = base::StoreKind::cached) const noexcept {
    const Count there = std::min(count, bytes() - from);
    if (there > 0) device::read_buffer(buffer_, position(from), {to, size_of(there)}, stores);
  }
  void write(Count from, Count count, const std::byte* bytes_there) const noexcept {
    const Count there = std::min(count, bytes() - from);
    if (there > 0) device::write_buffer(buffer_, position(from), {bytes_there, size_of(there)});
  }

 private:
  static std::uint64_t position(Count at) noexcept { return static_cast<std::uint64_t>(at); }
  static std::size_t size_of(Count bytes) noexcept { return static_cast<std::size_t>(bytes); }

  std::optional<TypePacker> packer_;
  device::Buffer buffer_;
};

/// The length of a payload of a call in which this rank posts `whole` bytes.
[[nodiscard]] inline device::ShmCollArea::Length length_of(Count payload, Count whole) noexcept {
  return {static_cast<std::size_t>(payload), static_cast<std::uint64_t>(whole)};
}

/// Begins a round with bytes [from, from + count) of the data.
inline void post_part(device::ShmCollArea& coll_area, const Packed& data, Count from,
                      Count count) noexcept {
  coll_area.post(length_of(count, data.bytes()), [&](std::byte* to, base::StoreKind stores) {
    data.read(from, count, to, stores);
  });
}
/// The same where every member posts a part and waits for all others (ShmCollArea::post_exchange).
inline void exchange_part(device::ShmCollArea& coll_area, const Packed& data, Count from,
                          Count count) noexcept {
  coll_area.post_exchange(
      length_of(count, data.bytes()),
      [&](std::byte* to, base::StoreKind stores) { data.read(from, count, to, stores); });
}
inline void post_data(device::ShmCollArea& coll_area, const ConstData& data) noexcept {
  const Packed packed(data);
  post_part(coll_area, packed, 0, packed.bytes());
}
/// The only round of a call in which this rank has no data: ranks that expect some find out.
inline void post_nothing(device::ShmCollArea& coll_area) noexcept {
  coll_area.post({}, [](std::byte* /*to*/, base::StoreKind) {});
}

/// The error of a call in which a member gave another number of bytes than `expected`.
[[nodiscard]] base::Error wrong_length(int member, Count given, Count expected);

/// After waiting for a member, whose data in this call should have `expected` bytes.
[[nodiscard]] inline base::Error check_length(const device::ShmCollArea& coll_area, int member,
                                              Count expected) {
  if (coll_area.has_length(member, static_cast<std::uint64_t>(expected))) [[likely]]
    return {};
  return wrong_length(member, coll_area.whole_bytes_of(member), expected);
}
/// The same of members 0 to `last` - 1 but this one.
[[nodiscard]] inline base::Error check_lengths(const device::ShmCollArea& coll_area, int last,
                                               Count expected) {
  for (int member = 0; member < last; ++member) {
    if (member == coll_area.self()) continue;
    if (!coll_area.has_length(member, static_cast<std::uint64_t>(expected))) [[unlikely]]
      return wrong_length(member, coll_area.whole_bytes_of(member), expected);
  }
  return {};
}
/// The result of a call that ends with `error`: payloads of this rank that were left out because a
/// member has failed make it fail, too.
[[nodiscard]] inline base::Error result_on(const device::ShmCollArea& coll_area, const Comm& comm,
                                           base::Error error = {}) {
  return coll_area.failed() ? failure_of(comm) : error;
}

/// Stores what a member posted in this round, `count` bytes, at `from`.
inline void take_part(const device::ShmCollArea& coll_area, int member, const Packed& data,
                      Count from, Count count) noexcept {
  data.write(from, count, coll_area.payload(member, static_cast<std::size_t>(count)));
}

}  // namespace fulmar::mpi
