// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "rwapi/node.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "wire/packets.h"

namespace fulmar::rwapi {
namespace {

using interfaces::Port;

/// The arena is address space; memory is used as blocks are written to.
constexpr std::size_t most_arena_bytes = std::size_t{64} << 30;
constexpr std::size_t least_arena_bytes = std::size_t{1} << 20;

/// A program that only sends and receives through memory looks at the port once in so many calls.
constexpr unsigned calls_between_looks = 256;

/// What the blocks of this node may take: as much memory as the machine has.
std::size_t machine_bytes() noexcept {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGESIZE);
  const auto memory =
      static_cast<std::size_t>(std::max(pages, 1L)) * static_cast<std::size_t>(page);
  return std::clamp(memory, least_arena_bytes, most_arena_bytes);
}

wire::RwapiWrite address_of(const rwapi_net& net) noexcept {
  return {0, net.offset, net.block, net.generation, net.seal};
}

}  // namespace

std::unique_ptr<Node> Node::open(int& error) {
  auto node = std::make_unique<Node>();
  const char* why = "";
  error = RWAPI_ERR_RUNTIME;
  Port* const port = fulmar_interfaces_open(interfaces::core_version, interfaces::PortId::rwapi,
                                            node.get(), interfaces::Threads::one, &why);
  if (port == nullptr) {
    std::fprintf(stderr, "fulmar: rwapi_init: %s\n", why);
    return nullptr;
  }
  error = RWAPI_ERR_MEMORY;
  if (!node->attach(*port, machine_bytes())) {
    port->close(Port::Leaving::alone);
    return nullptr;
  }
  error = RWAPI_OK;
  (void)port->wait(
      [](void* self) noexcept {
        return std::ranges::all_of(static_cast<Node*>(self)->peers_, &Peer::is_settled);
      },
      node.get(), Port::for_ever);
  return node;
}

bool Node::attach(interfaces::Port& port, std::size_t most_bytes) {
  port_ = &port;
  if (!make_arena(most_bytes)) return false;
  share_arena();
  return true;
}

bool Node::make_arena(std::size_t most_bytes) {
  std::vector<std::uint32_t> on_host;
  for (std::uint32_t node = 0; node < port_->size(); ++node) {
    if (node == port_->rank()) place_on_host_ = static_cast<std::uint32_t>(on_host.size());
    if (node == port_->rank() || port_->on_node(node)) on_host.push_back(node);
  }
  all_in_memory_ = on_host.size() == port_->size();
  const char* why = "";
  const std::size_t front_bytes = wire::rwapi_front_bytes(on_host.size());
  for (std::size_t bytes = most_bytes; bytes >= least_arena_bytes; bytes /= 2) {
    segment_ = port_->make_segment(bytes + front_bytes, &why);
    if (segment_ != nullptr) break;
  }
  if (segment_ == nullptr) {
    std::fprintf(stderr, "fulmar: rwapi_init: %s\n", why);
    return false;
  }
  peers_ = std::vector<Peer>(port_->size());
  const auto queues = static_cast<std::uint32_t>(on_host.size());
  arena_ = std::make_unique<Arena>(*port_, *segment_, queues);
  for (std::uint32_t place = 0; place < queues; ++place) {
    if (place == place_on_host_) continue;
    sources_.push_back({on_host[place], SmallReceiver(arena_->queue(place))});
  }
  port_->start();
  return true;
}

/// Each process of this host maps the arenas of all others: those that it cannot map, and those of
/// other hosts, it writes to by frames.
void Node::share_arena() {
  const std::lock_guard guard(*port_);
  for (std::uint32_t node = 0; node < port_->size(); ++node) {
    Peer& peer = peers_[node];
    if (node == port_->rank() || !port_->on_node(node) || port_->lost(node)) {
      peer.is_settled = true;
    } else if (!port_->share(segment_, node, 0)) {
      // The other one waits for it.
      (void)port_->send(node, static_cast<std::uint8_t>(wire::RwapiKind::no_arena), {}, {},
                        nullptr);
    }
  }
}

void Node::detach() {
  const std::lock_guard guard(*port_);
  sources_.clear();
  for (Peer& peer : peers_) {
    forget_arena(peer);
    peer.small = {};
    if (peer.segment != nullptr) port_->release_segment(peer.segment);
    peer.segment = nullptr;
  }
  arena_.reset();
  port_->release_segment(segment_);
}

void Node::close() {
  const auto nothing_under_way = [](void* self) noexcept {
    return std::ranges::all_of(static_cast<Node*>(self)->peers_,
                               [](const Peer& peer) { return peer.under_way.empty(); });
  };
  (void)port_->wait(nothing_under_way, this, Port::for_ever);
  port_->flush();
  port_->barrier();
  detach();
  port_->close(Port::Leaving::together);
}

void* Node::allocate(std::size_t bytes, rwapi_net& net) {
  const std::lock_guard guard(*port_);
  const auto made = arena_->allocate(bytes);
  if (!made) return nullptr;
  net = {0, made->block, made->generation, made->seal};
  return made->address;
}

int Node::free(const void* block) {
  const std::lock_guard guard(*port_);
  return arena_->free(block) ? RWAPI_OK : RWAPI_ERR_MEMORY;
}

int Node::send(rwapi_node to, const rwapi_small& message) {
  if (!knows(to)) return RWAPI_ERR_NODE;
  const auto node = static_cast<std::uint32_t>(to);
  Peer& peer = peers_[node];
  if (!peer.small.is_open()) return send_frame(node, message);
  if (++calls_without_progress_ >= calls_between_looks) look_at_port();
  if (peer.is_lost.load(std::memory_order_relaxed)) return RWAPI_ERR_FAILED;
  return peer.small.send(message) ? RWAPI_OK : RWAPI_ERR_FULL;
}

/// Answers what others ask for, and notices who has gone.
void Node::look_at_port() noexcept {
  const std::lock_guard guard(*port_);
  port_->progress();
  calls_without_progress_ = 0;
}

int Node::send_frame(std::uint32_t node, const rwapi_small& message) {
  const std::lock_guard guard(*port_);
  Peer& peer = peers_[node];
  if (port_->lost(node)) return RWAPI_ERR_FAILED;
  if (peer.unreceived >= RWAPI_QUEUE) {
    if (node != port_->rank() && !peer.is_asked) {
      peer.is_asked =
          port_->send(node, static_cast<std::uint8_t>(wire::RwapiKind::ask), {}, {}, nullptr);
    }
    port_->progress();
    if (peer.unreceived >= RWAPI_QUEUE) return RWAPI_ERR_FULL;
  }
  if (node == port_->rank()) {
    keep_small({node, message});
  } else if (!port_->send(node, static_cast<std::uint8_t>(wire::RwapiKind::small),
                          std::as_bytes(std::span(message.data)), {}, nullptr)) {
    return RWAPI_ERR_FULL;
  }
  ++peer.unreceived;
  return RWAPI_OK;
}

/// What comes by frames and what comes through memory take turns.
int Node::receive(rwapi_node& from, rwapi_small& message) {
  const bool frames_first =
      has_small_messages_.load(std::memory_order_relaxed) && !frames_had_their_turn_;
  if (!frames_first && receive_from_memory(from, message)) return 1;
  const bool may_have_come = frames_first || !all_in_memory_ ||
                             has_small_messages_.load(std::memory_order_relaxed) ||
                             ++calls_without_progress_ >= calls_between_looks;
  if (may_have_come && receive_from_frames(from, message)) return 1;
  return frames_first && receive_from_memory(from, message) ? 1 : 0;
}

/// Looks at the processes of this host in turn.
bool Node::receive_from_memory(rwapi_node& from, rwapi_small& message) noexcept {
  for (std::size_t looks = 0; looks < sources_.size(); ++looks) {
    if (next_source_ >= sources_.size()) next_source_ = 0;
    SmallSource& source = sources_[next_source_++];
    if (!source.receiver.receive(message)) continue;
    from = static_cast<rwapi_node>(source.from);
    frames_had_their_turn_ = false;
    return true;
  }
  return false;
}

bool Node::receive_from_frames(rwapi_node& from, rwapi_small& message) {
  const std::lock_guard guard(*port_);
  if (small_messages_.empty()) {
    port_->progress();
    calls_without_progress_ = 0;
  }
  if (small_messages_.empty()) return false;
  const SmallMessage& oldest = small_messages_.front();
  const std::uint32_t node = oldest.from;
  from = static_cast<rwapi_node>(node);
  message = oldest.content;
  small_messages_.pop_front();
  has_small_messages_.store(!small_messages_.empty(), std::memory_order_relaxed);
  frames_had_their_turn_ = true;
  Peer& peer = peers_[node];
  --peer.queued;
  ++peer.received;
  if (node == port_->rank()) {
    peer.received = 0;
    --peer.unreceived;
  } else if (peer.received >= RWAPI_QUEUE / 4 || peer.has_asked) {
    tell_received(peer, node);
  }
  return true;
}

void Node::keep_small(const SmallMessage& message) {
  small_messages_.push_back(message);
  ++peers_[message.from].queued;
  has_small_messages_.store(true, std::memory_order_relaxed);
}

void Node::tell_received(Peer& peer, std::uint32_t node) noexcept {
  const wire::RwapiReceived body{peer.received};
  if (port_->send(node, static_cast<std::uint8_t>(wire::RwapiKind::received), wire::bytes_of(body),
                  {}, nullptr)) {
    peer.received = 0;
    peer.has_asked = false;
  }
}

rwapi_sid Node::write(rwapi_node to, const rwapi_net& local, const rwapi_net& remote,
                      std::size_t bytes) {
  if (!knows(to)) return RWAPI_ERR_NODE;
  const std::lock_guard guard(*port_);
  const auto node = static_cast<std::uint32_t>(to);
  const Arena::Place source = arena_->find(address_of(local), bytes);
  if (source.error != RWAPI_OK) return source.error;
  if (port_->lost(node)) return RWAPI_ERR_FAILED;
  Peer& peer = peers_[node];
  const wire::RwapiWrite address = address_of(remote);
  if (node == port_->rank()) {
    const Arena::Place target = arena_->find(address, bytes);
    if (target.error != RWAPI_OK) return target.error;
    std::memmove(target.address, source.address, bytes);
    return next_sid_++;
  }
  if (!peer.arena) return write_frame(peer, node, address, local.block, {source.address, bytes});
  arena_->set_target(wire::rwapi_target(node, remote.block));
  const Arena::Place target = peer.arena->find(*port_, node, address, bytes);
  if (target.error == RWAPI_OK) std::memcpy(target.address, source.address, bytes);
  arena_->set_target(0);
  return target.error == RWAPI_OK ? next_sid_++ : target.error;
}

rwapi_sid Node::write_frame(Peer& peer, std::uint32_t to, const wire::RwapiWrite& remote,
                            std::uint32_t local_block, std::span<const std::byte> bytes) {
  auto made = std::make_unique<Write>();
  Write& write = *made;
  write.done = write_sent;
  write.node = this;
  write.sid = next_sid_;
  write.number = peer.writes + 1;
  write.block = local_block;
  wire::RwapiWrite header = remote;
  header.number = write.number;
  arena_->begin_use(local_block);
  peer.under_way.push_back(&write);
  writes_.emplace(write.sid, std::move(made));
  if (!port_->send(to, static_cast<std::uint8_t>(wire::RwapiKind::write), wire::bytes_of(header),
                   bytes, &write)) {
    arena_->end_use(local_block);
    peer.under_way.pop_back();
    writes_.erase(next_sid_);
    return RWAPI_ERR_FULL;
  }
  ++peer.writes;
  return next_sid_++;
}

int Node::is_sent(rwapi_sid sid) {
  if (sid < 0 || sid >= next_sid_) return RWAPI_ERR_SID;
  const std::lock_guard guard(*port_);
  auto place = writes_.find(sid);
  if (place != writes_.end() && place->second->error == RWAPI_OK) {
    port_->progress();
    place = writes_.find(sid);
  }
  if (place == writes_.end()) return 1;
  const Write& write = *place->second;
  return write.has_ended && write.is_sent ? write.error : 0;
}

/// The port does not use the memory any more.
void Node::write_sent(interfaces::SendCompletion& completion,
                      interfaces::Outcome outcome) noexcept {
  auto& write = static_cast<Write&>(completion);
  Node& self = *write.node;
  write.is_sent = true;
  if (self.arena_ != nullptr) self.arena_->end_use(write.block);
  if (outcome == interfaces::Outcome::failed && write.error == RWAPI_OK) {
    write.error = RWAPI_ERR_FAILED;
  }
  self.forget_if_over(write);
}

void Node::end(Write& write) noexcept {
  write.has_ended = true;
  forget_if_over(write);
}

/// Who asks for a write that is not in the table is told that it has arrived.
void Node::forget_if_over(Write& write) noexcept {
  if (write.is_sent && write.has_ended && write.error == RWAPI_OK) writes_.erase(write.sid);
}

}  // namespace fulmar::rwapi
