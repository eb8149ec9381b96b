// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/host_ways.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "channel/mapped_channel.inl"

namespace fulmar::runtime {
namespace {

using fabric::Post;
using State = wire::HostMemberState;

/// More than any ring takes.
constexpr std::size_t longest_body = std::size_t{1} << 30;

}  // namespace

/// Long bodies are not announced before they are complete: within a job the launcher says that the
/// sender of one is dead, here nobody would.
void HostWays::add(std::unique_ptr<HostSegment> segment, std::span<const std::uint32_t> reached) {
  std::vector<std::uint32_t> ids;
  for (const wire::ProcessName& member : segment->members()) {
    // Nothing comes from one that is not known: it has not been told of the memory's use.
    ids.push_back(config_.processes->id_of(member).value_or(config_.processes->self()));
  }
  grounds_.push_back(std::make_unique<Ground>(std::move(segment), ids));
  Ground& ground = *grounds_.back();
  ground.channel.channel().set_cut_through(channel::CutThrough::off);
  if (!config_.has_membarrier) ground.channel.channel().require_sender_fence();
  ground.segment->shm().use_wake_socket(socket_);
  for (const std::uint32_t peer : reached) {
    if (peer >= ways_.size()) ways_.resize(std::size_t{peer} + 1);
    auto way = std::make_unique<Way>();
    way->ground = &ground;
    way->peer = peer;
    way->number = static_cast<std::uint32_t>(std::ranges::find(ids, peer) - ids.begin());
    way->link = ground.channel.channel().connect(way->number);
    ways_[peer] = std::move(way);
    ++ground.ways;
  }
}

State HostWays::state_of(std::uint32_t peer) const noexcept {
  const Way* const way = find(peer);
  return way == nullptr ? State::absent : way->ground->segment->state_of(way->number);
}

void HostWays::set_state(std::uint32_t peer, State state) noexcept {
  if (Way* const way = find(peer); way != nullptr) way->ground->segment->set_state(state);
}

void HostWays::set_states(State state) noexcept {
  for (const auto& ground : grounds_) ground->segment->set_state(state);
}

std::vector<std::uint32_t> HostWays::beside(std::uint32_t peer) const {
  std::vector<std::uint32_t> peers;
  const Way* const way = find(peer);
  if (way == nullptr) return peers;
  for (const auto& other : ways_) {
    if (other != nullptr && other->ground == way->ground) peers.push_back(other->peer);
  }
  return peers;
}

std::vector<std::uint32_t> HostWays::reached() const {
  std::vector<std::uint32_t> peers;
  for (const auto& way : ways_) {
    if (way != nullptr) peers.push_back(way->peer);
  }
  return peers;
}

void HostWays::detach(std::uint32_t peer) {
  Way* const way = find(peer);
  if (way == nullptr) return;
  Ground* const ground = way->ground;
  ways_[peer].reset();
  if (--ground->ways > 0) return;
  std::erase_if(grounds_, [&](const auto& one) { return one.get() == ground; });
}

void HostWays::look() {
  for (const auto& way : ways_) {
    if (way != nullptr && !way->dead) look_at(*way);
  }
}

void HostWays::look_at(Way& way) {
  HostSegment& segment = *way.ground->segment;
  if (segment.has_died(way.number)) {
    way.dead = true;
    segment.mark_gone(way.number);
    const std::string who = config_.processes->text_of(way.peer);
    config_.lost(config_.owner, way.peer,
                 base::failure(base::ErrorClass::proc_aborted,
                               "lost %s on this host (process %d): the process has ended, or was "
                               "killed",
                               who.c_str(), segment.pid_of(way.number)));
  } else if (!way.told && segment.state_of(way.number) == State::closed) {
    way.closed = way.told = true;
    config_.left(config_.owner, way.peer);
  }
}

/// A packet for a process that is known to be dead is dropped.
Post HostWays::post(std::uint32_t peer, const wire::Envelope& envelope,
                    std::span<const std::byte> body) noexcept {
  Way& way = *find(peer);
  if (way.dead) return Post::done;
  const auto fill = [body](std::span<std::byte> to, std::uint64_t from) {
    if (!to.empty()) std::memcpy(to.data(), body.data() + from, to.size());
  };
  const Post post = way.ground->channel.channel().put(*way.link, envelope, fill);
  way.blocked = post == Post::again;
  return post;
}

std::size_t HostWays::body_limit(std::uint32_t peer) noexcept {
  Way& way = *find(peer);
  return way.ground->channel.channel().body_limit(*way.link, longest_body);
}

unsigned HostWays::poll(fabric::SinkRef& sink) {
  unsigned moved = 0;
  for (const auto& ground : grounds_) {
    const unsigned taken = ground->channel.get(sink);
    moved += taken;
    if (taken != 0) continue;
    for (const auto& way : ways_) {
      if (way != nullptr && way->closed && way->ground == ground.get()) way->drained = true;
    }
  }
  return moved;
}

/// The word stays when the process wakes by itself: that costs a sender one ring too many.
void HostWays::announce_sleep() noexcept {
  socket_.drain();
  for (const auto& ground : grounds_) {
    ground->channel.channel().announce_sleep(wire::Asleep::on_socket);
  }
  for (const auto& way : ways_) {
    if (way != nullptr && way->blocked) way->ground->channel.channel().want_credit(*way->link);
  }
}

bool HostWays::reach(std::uint32_t peer) noexcept {
  const Way& way = *find(peer);
  return way.ground->segment->shm().reach(way.number);
}

base::Error HostWays::read(std::uint32_t peer, std::span<const iovec> local, std::uint64_t remote,
                           std::uint64_t bytes) noexcept {
  const Way& way = *find(peer);
  return way.ground->segment->shm().read(way.number, local, remote, bytes);
}

base::Error HostWays::write(std::uint32_t peer, std::span<const iovec> local, std::uint64_t remote,
                            std::uint64_t bytes) noexcept {
  const Way& way = *find(peer);
  return way.ground->segment->shm().write(way.number, local, remote, bytes);
}

bool HostWays::gone(std::uint32_t peer) const noexcept {
  Way& way = *find(peer);
  way.closed = way.closed || way.ground->segment->state_of(way.number) == State::closed;
  return way.drained;
}

}  // namespace fulmar::runtime
