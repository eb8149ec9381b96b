// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "interfaces/device_port.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>
#include <new>

#include "base/clock.h"
#include "interfaces/device_port_state.h"

namespace fulmar::interfaces {
namespace {

using wire::SystemKind;

/// Receives for frames that are always posted. Each is posted again as soon as it is done.
constexpr std::size_t posted_receives = 8;

/// How long a process that leaves alone waits for peers that take nothing.
constexpr std::int64_t patience_ns = 2'000'000'000;

/// What seals are made with: the job's key, for nothing else.
base::SipHash::Key hash_key(const fabric::ProcessTable& processes) noexcept {
  base::SipHash::Key key{};
  const base::Key* const secret = processes.key_of(processes.own_name().job);
  if (secret == nullptr) return key;
  std::array<std::uint64_t, 4> words{};
  static_assert(sizeof words == sizeof *secret);
  std::memcpy(words.data(), secret->data(), sizeof words);
  constexpr base::SipHash::Key label = {0x666163652d736561, 0x6c732d66756c6d61};
  return {words[0] ^ words[2] ^ label[0], words[1] ^ words[3] ^ label[1]};
}

}  // namespace

DevicePort::DevicePort(device::Device& device, PortId id, Client& client, std::uint32_t life)
    : device_(device),
      client_(client),
      id_(id),
      frame_context_(wire::frame_context(static_cast<std::uint8_t>(id), life)),
      payload_context_(wire::payload_context(static_cast<std::uint8_t>(id), life)),
      rank_(device.processes().own_name().rank),
      size_(device.config().size),
      hash_(hash_key(device.processes())),
      segments_(
          device.processes().own_name(),
          {this,
           [](void* self, std::uint32_t peer, SystemKind kind,
              std::span<const std::byte> body) noexcept {
             static_cast<DevicePort*>(self)->send_system(peer, kind, body);
           },
           [](void* self, std::uint32_t peer, std::uint64_t segment_id, Segment* segment) noexcept {
             static_cast<DevicePort*>(self)->client_.segment_mapped(peer, segment_id, segment);
           }}),
      peers_(size_) {}

void DevicePort::start() noexcept {
  const base::EngineGuard guard(device_.lock());
  device::ProgressCallback::step = [](device::ProgressCallback& hook) {
    return static_cast<DevicePort&>(hook).look();
  };
  device_.add_progress_callback(*this);
  started_ = true;
  for (std::size_t i = 0; i < posted_receives; ++i) {
    receives_.push_back(std::make_unique<Posted>());
    post(*receives_.back());
  }
}

DevicePort::~DevicePort() = default;

DevicePort::Peer& DevicePort::peer(std::uint32_t rank) {
  std::unique_ptr<Peer>& place = peers_[rank];
  if (place == nullptr) {
    place = std::make_unique<Peer>();
    place->rank = rank;
  }
  return *place;
}

bool DevicePort::on_node(std::uint32_t rank) const noexcept {
  if (rank == rank_) return true;
  device::NodeChannel* const node = device_.node();
  return node != nullptr && node->number_of(rank) != device::NodeChannel::not_here;
}

bool DevicePort::lost(std::uint32_t rank) const noexcept {
  const base::EngineGuard guard(device_.lock());
  return rank < size_ && peers_[rank] != nullptr && peers_[rank]->lost;
}

std::uint32_t DevicePort::undelivered(std::uint32_t rank) const noexcept {
  const base::EngineGuard guard(device_.lock());
  if (rank >= size_ || peers_[rank] == nullptr || peers_[rank]->lost) return 0;
  const Peer& target = *peers_[rank];
  return target.unacknowledged + static_cast<std::uint32_t>(target.waiting.size());
}

/// Part of each look at progress.
unsigned DevicePort::look() noexcept {
  unsigned moved = segments_.step() + client_.step();
  // What a failed process had sent before is delivered before it counts as lost here.
  const device::Failures& failures = device_.failures();
  if (failures.list().size() == failures_seen_ || failures.pending()) return moved;
  while (failures_seen_ < failures.list().size()) {
    const std::uint32_t failed = failures.list()[failures_seen_++].peer;
    if (failed < size_) lose(peer(failed));
    ++moved;
  }
  return moved;
}

void DevicePort::lose(Peer& target) noexcept {
  if (target.lost) return;
  target.lost = true;
  target.unacknowledged = 0;
  fail_waiting(target);
  segments_.forget(target.rank);
  client_.peer_lost(target.rank);
}

void DevicePort::progress() noexcept {
  const base::EngineGuard guard(device_.lock());
  device_.poll();
}

bool DevicePort::wait(bool (*holds)(void*) noexcept, void* context,
                      std::int64_t timeout_ns) noexcept {
  const base::EngineGuard guard(device_.lock());
  if (timeout_ns == for_ever) {
    device_.wait([&]() noexcept { return holds(context); });
    return true;
  }
  // A wait of the device ends by what happens, not by the clock.
  constexpr std::uint32_t looks_before_sleep = 2000;
  constexpr std::uint64_t longest_sleep_ns = 500'000;
  const std::uint64_t begin = base::now_ns();
  const auto timeout = static_cast<std::uint64_t>(timeout_ns);
  for (std::uint32_t looks = 0; !holds(context); ++looks) {
    const std::uint64_t passed = base::now_ns() - begin;
    if (passed >= timeout) return false;
    device_.poll();
    if (looks < looks_before_sleep) continue;
    const std::uint32_t depth = device_.lock().suspend();
    const timespec pause{0, static_cast<long>(std::min(longest_sleep_ns, timeout - passed))};
    (void)::nanosleep(&pause, nullptr);
    device_.lock().resume(depth);
  }
  return true;
}

void DevicePort::notify() noexcept {
  const base::EngineGuard guard(device_.lock());
  device::Operation nobody;
  device_.complete(nobody);
}

void DevicePort::flush() noexcept {
  constexpr std::int64_t question_interval_ns = 50'000'000;
  const auto is_flushed = [](void* self) noexcept {
    auto& port = *static_cast<DevicePort*>(self);
    return std::ranges::none_of(port.peers_, [](const std::unique_ptr<Peer>& each) {
      return each != nullptr && !each->lost &&
             (each->unacknowledged != 0 || !each->waiting.empty());
    });
  };
  do {
    const base::EngineGuard guard(device_.lock());
    for (const std::unique_ptr<Peer>& each : peers_) {
      if (each == nullptr || each->unacknowledged == 0) continue;
      send_system(each->rank, SystemKind::want_credits, {});
    }
  } while (!wait(is_flushed, this, question_interval_ns));
}

/// Dissemination: in round r each process tells the one 2^r ranks above it.
void DevicePort::barrier() noexcept {
  const base::EngineGuard guard(device_.lock());
  ++barrier_epoch_;
  struct Round {
    DevicePort& port;
    std::array<std::uint32_t, 3> arrival;
  };
  for (std::uint32_t round = 0; (std::uint64_t{1} << round) < size_; ++round) {
    const auto distance = std::uint64_t{1} << round;
    const wire::BarrierBody body{barrier_epoch_, round};
    const auto to = static_cast<std::uint32_t>((rank_ + distance) % size_);
    const auto from = static_cast<std::uint32_t>((rank_ + size_ - distance) % size_);
    send_system(to, SystemKind::barrier, wire::bytes_of(body));
    Round awaited{*this, {barrier_epoch_, round, from}};
    (void)wait(
        [](void* context) noexcept {
          const Round& self = *static_cast<Round*>(context);
          return self.port.lost(self.arrival[2]) ||
                 self.port.barrier_arrivals_.contains(self.arrival);
        },
        &awaited, for_ever);
    barrier_arrivals_.erase(awaited.arrival);
  }
}

Segment* DevicePort::make_segment(std::size_t bytes, const char** why) noexcept {
  thread_local std::string text;
  auto made = device::NodeSegment::make(bytes);
  if (made.ok()) {
    auto* const segment = new (std::nothrow) MappedSegment(std::move(*made));
    if (segment != nullptr) return segment;
    made = base::failure(base::ErrorClass::no_mem, "no memory");
  }
  text = made.error().text();
  *why = text.c_str();
  return nullptr;
}

void DevicePort::release_segment(Segment* segment) noexcept {
  const base::EngineGuard guard(device_.lock());
  auto* const mapped = static_cast<MappedSegment*>(segment);
  segments_.withdraw(*mapped);
  delete mapped;
}

bool DevicePort::share(Segment* segment, std::uint32_t to, std::uint64_t id) noexcept {
  const base::EngineGuard guard(device_.lock());
  const auto name = device_.processes().name_of(to);
  if (!name || !on_node(to) || to == rank_) return false;
  return segments_.offer(*static_cast<MappedSegment*>(segment), to, *name, id);
}

std::uint64_t DevicePort::seal(std::uint32_t owner,
                               std::span<const std::byte> bytes) const noexcept {
  constexpr std::size_t most_bytes = 64;
  struct Sealed {
    std::uint32_t job;
    std::uint32_t owner;
    std::uint64_t port;
    std::array<std::byte, most_bytes> bytes;
  } sealed{};
  sealed.job = device_.processes().own_name().job;
  sealed.owner = owner;
  sealed.port = static_cast<std::uint64_t>(id_);
  const std::size_t count = std::min(bytes.size(), most_bytes);
  std::memcpy(sealed.bytes.data(), bytes.data(), count);
  return hash_(std::as_bytes(std::span(&sealed, 1)).first(offsetof(Sealed, bytes) + count));
}

void DevicePort::own(std::span<std::byte> block) noexcept {
  const base::EngineGuard guard(device_.lock());
  device_.memory().own(block);
}

void DevicePort::disown(std::span<std::byte> block) noexcept {
  const base::EngineGuard guard(device_.lock());
  device_.memory().disown(block.data());
}

void DevicePort::stop(Leaving leaving) noexcept {
  const base::EngineGuard guard(device_.lock());
  for (const std::unique_ptr<Peer>& each : peers_) {
    if (each == nullptr || leaving == Leaving::together) continue;
    send_system(each->rank, SystemKind::closed, {});
  }
  stopping_ = true;
  if (!started_) return;
  for (const std::unique_ptr<Posted>& each : receives_) device_.cancel(*each);
  for (const std::unique_ptr<Peer>& each : peers_) {
    if (each == nullptr) continue;
    const std::set<SentFrame*> moving = each->moving;
    for (SentFrame* const frame : moving) device_.cancel(frame->payload_send);
    for (std::size_t i = 0; i < each->pending.size(); ++i) {
      if (!each->pending[i]->complete) device_.cancel(*each->pending[i]);
    }
  }
  // Credits are worth nothing any more, and their peer may have left. Barriers have to get out.
  for (const std::unique_ptr<SentFrame>& each : frames_) {
    const bool is_credits = each->header.flags == (wire::frame_system | wire::frame_unnumbered) &&
                            each->header.kind != static_cast<std::uint8_t>(SystemKind::barrier);
    if (each->parts != 0 && is_credits) device_.cancel(*each);
  }
  const auto is_out = [](void* self) noexcept {
    return std::ranges::all_of(static_cast<DevicePort*>(self)->frames_,
                               [](const auto& each) { return each->parts == 0; });
  };
  (void)wait(is_out, this, leaving == Leaving::together ? for_ever : patience_ns);
  for (const std::unique_ptr<SentFrame>& each : frames_) {
    if (each->parts != 0) device_.cancel(*each);
  }
  device_.wait([&]() noexcept {
    return is_out(this) &&
           std::ranges::all_of(receives_, [](const auto& each) { return each->done(); }) &&
           std::ranges::none_of(peers_, [](const std::unique_ptr<Peer>& each) {
             return each != nullptr && (!each->pending.empty() || !each->moving.empty());
           });
  });
  device_.remove_progress_callback(*this);
}

void DevicePort::close(Leaving leaving) noexcept {
  stop(leaving);
  const auto closed = on_closed;
  const PortId id = id_;
  if (closed != nullptr) closed(id);  // destroys this
}

}  // namespace fulmar::interfaces
