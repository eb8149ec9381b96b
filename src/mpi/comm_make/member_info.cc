// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/comm_make/member_info.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "base/clock.h"
#include "mpi/coll/engine/coll_context.h"
#include "mpi/coll/shm/shm_coll.h"
#include "mpi/comm/failure.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

struct Bytes {
  void* address;
  std::size_t size;
};

/// Also where the line is a temporary communicator for some members of the one that was revoked.
bool is_revoked(const Line& line) noexcept {
  const std::uint32_t context = line.comm.context | static_cast<std::uint32_t>(line.channel);
  const auto obstacle =
      line.comm.device->failures().obstacle_for({context, match::any_peer, line.tag});
  return obstacle && obstacle->error == ErrorClass::revoked;
}

Error failure_of_line(const Line& line) {
  return is_revoked(line) ? revoked_error(line.comm) : failure_of(line.comm);
}

Data data_of(const Line& line, Bytes bytes) {
  return {bytes.address, static_cast<Count>(bytes.size),
          line.comm.library->find<Datatype>(MPI_BYTE)};
}

/// Others of the communicator may not receive any more what they have been sent: it was revoked
/// before they entered the call, or they know of a failure. Two leaders need nobody else.
bool may_be_left(const Line& line) noexcept {
  return is_revoked(line) || (line.channel != Channel::leaders && !is_whole(line.comm));
}

/// Waits for a message that was sent. Where no receive may come it is withdrawn, unless it was
/// matched.
Error finish_send(const Line& line, Transfer& outgoing) {
  device::Device& device = *line.comm.device;
  device.wait([&]() noexcept { return outgoing.operation.done() || may_be_left(line); });
  if (!outgoing.operation.done()) {
    device.cancel(outgoing.operation);
    device.wait_done(outgoing.operation);
  }
  if (outgoing.operation.outcome.cancelled) return failure_of_line(line);
  return operation_error(line.comm, outgoing.operation);
}

Error send(const Line& line, Bytes bytes, int dest) {
  if (is_revoked(line)) return revoked_error(line.comm);
  const Data data = data_of(line, bytes);
  Transfer outgoing;
  outgoing.start_send(line.comm, {data.address, data.count, data.type}, dest, line.tag,
                      line.channel);
  return finish_send(line, outgoing);
}

Error receive(const Line& line, Bytes bytes, int source) {
  return receive_message(line.comm, data_of(line, bytes), source, line.tag, line.channel);
}

/// A message to `dest` and one from `source` at the same time.
Error swap(const Line& line, Bytes out, int dest, Bytes in, int source) {
  if (is_revoked(line)) return revoked_error(line.comm);
  const Data data = data_of(line, out);
  Transfer incoming;
  incoming.start_receive(line.comm, data_of(line, in), source, line.tag, line.channel);
  Transfer outgoing;
  outgoing.start_send(line.comm, {data.address, data.count, data.type}, dest, line.tag,
                      line.channel);
  line.comm.device->wait_done(incoming.operation);
  const Error sent = finish_send(line, outgoing);
  const Error error = report(line.comm, incoming.operation, nullptr);
  return error.failed() ? error : sent;
}

/// From `root` to all, down a binomial tree.
Error broadcast(const Line& line, Bytes bytes, int root) {
  const int size = line.comm.size();
  const int place = (line.comm.rank - root + size) % size;
  Error error;
  int step = 1;
  while (step < size && (place & step) == 0) step *= 2;
  if (place != 0) error = receive(line, bytes, (place - step + root) % size);
  if (error.failed()) std::memset(bytes.address, 0, bytes.size);  // perhaps a part has come
  for (step /= 2; step > 0; step /= 2) {
    if (place + step >= size) continue;
    const Error sent = send(line, bytes, (place + step + root) % size);
    if (error.ok()) error = sent;
  }
  return error;
}

Error read_board(Comm& comm, const MemberInfo& own, std::vector<MemberInfo>& all) {
  const Datatype& byte = *comm.library->find<Datatype>(MPI_BYTE);
  all.resize(static_cast<std::size_t>(comm.size()));
  device::ShmCollArea& coll_area = *comm.coll_area;
  post_data(coll_area, {&own, sizeof own, &byte});
  if (!coll_area.wait_all()) return failure_of(comm);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Packed packed(Data{&all[rank], sizeof own, &byte});
    take_part(coll_area, static_cast<int>(rank), packed, 0, sizeof own);
  }
  return {};
}

bool is_complete(const std::vector<MemberInfo>& members) noexcept {
  return std::ranges::none_of(members, is_missing);
}

/// A member that was to hand the heading on has not got it, because a process has failed.
constexpr std::uint32_t nothing_came = 0;
constexpr std::uint32_t leader_has_died = 1;
constexpr std::uint32_t peer_comm_revoked = 2;
constexpr std::uint32_t other_cause = 3;

std::uint32_t cause_of(const Error& error) noexcept {
  if (error.error_class() == ErrorClass::proc_failed) return leader_has_died;
  return error.error_class() == ErrorClass::revoked ? peer_comm_revoked : other_cause;
}

/// The first part of the leader's broadcast to its group.
struct Heading {
  std::uint32_t count = 0;  ///< of announcements that follow; 0: the leaders' exchange has failed
  std::uint32_t cause = 0;  ///< of that
  std::array<char, 184> text{};  ///< the same for the user

  void blame(const Error& error) noexcept {
    cause = cause_of(error);
    std::snprintf(text.data(), text.size(), "%s", error.text().c_str());
  }
};
/// The error of a member whose leader has got nothing from the other one.
Error leaders_failed(const Heading& heading, int leader) {
  const bool has_died = heading.cause == leader_has_died || heading.cause == nothing_came;
  const ErrorClass error_class = has_died                             ? ErrorClass::proc_failed
                                 : heading.cause == peer_comm_revoked ? ErrorClass::revoked
                                                                      : ErrorClass::other;
  return base::failure(error_class,
                       "the communicator was not made, because the local leader, rank %d, could "
                       "not talk to the remote one: %.*s",
                       leader, static_cast<int>(heading.text.size()),
                       heading.text[0] != 0 ? heading.text.data() : "a process has failed");
}

}  // namespace

Error incomplete_exchange() {
  return base::failure(ErrorClass::proc_failed,
                       "the communicator was not made, because a process of the old one has "
                       "failed; the others know which");
}

/// A member that detects a failure in the middle of the exchange still forwards what it has. The
/// others of the group are notified of that failure, too.
Error missing_member(const Comm& comm) {
  constexpr std::uint64_t patience_ns = 10'000'000'000;
  const std::uint64_t end_ns = base::now_ns() + patience_ns;
  comm.device->wait([&]() noexcept { return !is_whole(comm) || base::now_ns() > end_ns; });
  const Error known = failure_of(comm);
  return known.failed() ? known : incomplete_exchange();
}

Line next_line(Comm& comm) noexcept { return {comm, Channel::collective, next_tag(comm)}; }

Error announce(const Line& line, const MemberInfo& own, std::vector<MemberInfo>& all) {
  Comm& comm = line.comm;
  if (idle_area(comm, comm.coll_area.get()) != nullptr) return read_board(comm, own, all);
  // In step k every rank forwards the 2^k announcements from its own on, so that it has twice as
  // many afterwards. They are stored in the order of the ring that starts at this rank.
  const auto size = static_cast<std::size_t>(comm.size());
  all.resize(size);
  all[0] = own;
  Error error;
  for (std::size_t held = 1; held < size; held *= 2) {
    const std::size_t bytes = std::min(held, size - held) * sizeof own;
    const auto distance = static_cast<int>(held);
    const Error one =
        swap(line, {all.data(), bytes}, (comm.rank - distance + comm.size()) % comm.size(),
             {&all[held], bytes}, (comm.rank + distance) % comm.size());
    if (error.ok()) error = one;
    // Of an announcement that is handed on, all has come or nothing.
    if (one.failed()) std::fill_n(&all[held], bytes / sizeof own, MemberInfo{});
  }
  std::rotate(all.begin(), all.end() - comm.rank, all.end());
  if (error.failed()) return error;
  return is_complete(all) ? Error() : missing_member(comm);
}

Error meet(const Line& inside, const Leader& leader, MemberTable& member_table) {
  const bool leads = inside.comm.rank == leader.rank;
  Heading theirs;
  Error error;
  if (leads) theirs.blame(leader.no_line);
  if (leads && leader.across != nullptr) {
    const int peer = leader.remote_rank;
    Heading ours{static_cast<std::uint32_t>(member_table.local.size())};
    error = swap(*leader.across, {&ours, sizeof ours}, peer, {&theirs, sizeof theirs}, peer);
    member_table.remote.resize(theirs.count);
    const Error second = swap(
        *leader.across, {member_table.local.data(), member_table.local.size() * sizeof(MemberInfo)},
        peer, {member_table.remote.data(), member_table.remote.size() * sizeof(MemberInfo)}, peer);
    if (error.ok()) error = second;
    if (theirs.count == 0) theirs.blame(error);
  }
  const Error told = broadcast(inside, {&theirs, sizeof theirs}, leader.rank);
  if (error.ok()) error = told;
  if (theirs.count == 0) {
    return leads || error.failed() ? error : leaders_failed(theirs, leader.rank);
  }
  // A heading that was withdrawn must not be followed by the table, which would be taken for it; all
  // of the group learn of the failure.
  if (told.failed() && may_be_left(inside)) return error;
  member_table.remote.resize(theirs.count);
  const Error last = broadcast(
      inside, {member_table.remote.data(), member_table.remote.size() * sizeof(MemberInfo)},
      leader.rank);
  if (error.ok()) error = last;
  return error.failed() || is_complete(member_table.remote) ? error : incomplete_exchange();
}

Error gather_member_info(Comm& comm, const MemberInfo& own, MemberTable& member_table) {
  return gather_member_info(next_line(comm), own, member_table);
}

Error gather_member_info(const Line& line, const MemberInfo& own, MemberTable& member_table) {
  if (!line.comm.is_inter) return announce(line, own, member_table.local);
  const Line inside{*line.comm.local_comm, line.channel, line.tag};
  const Error error = announce(inside, own, member_table.local);
  const Error met = meet(inside, {0, 0, &line, {}}, member_table);
  return error.failed() ? error : met;
}

}  // namespace fulmar::mpi
