// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/network/host_segment.h"

#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/process_end.h"

namespace fulmar::runtime {
namespace {

using wire::HostMemoryHeader;
using wire::HostMemoryLayout;
using State = wire::HostMemberState;

std::uint64_t random_token() noexcept {
  std::uint64_t token = 0;
  if (::getrandom(&token, sizeof token, 0) != sizeof token) {
    token = static_cast<std::uint64_t>(::getpid()) * 0x9e3779b97f4a7c15U;
  }
  return token | 1;
}

}  // namespace

std::uint64_t HostSegment::bytes_for(std::size_t members) noexcept {
  return HostMemoryLayout::of(static_cast<std::uint32_t>(members)).bytes;
}

base::Result<std::unique_ptr<HostSegment>> HostSegment::take(
    device::NodeSegment memory, std::span<const wire::ProcessName> members,
    const wire::ProcessName& self, Maker maker, bool single_copy) {
  const auto count = static_cast<std::uint32_t>(members.size());
  const HostMemoryLayout layout = HostMemoryLayout::of(count);
  const auto place = std::ranges::lower_bound(members, self);
  const bool is_member = place != members.end() && *place == self;
  if (!is_member || memory.memory().size() != layout.bytes) {
    return base::failure(base::ErrorClass::other,
                         "memory to share on this host: %zu bytes for %u processes do not fit; use "
                         "the same version of Fulmar in all processes",
                         memory.memory().size(), count);
  }
  auto& header = *reinterpret_cast<HostMemoryHeader*>(memory.memory().data());
  if (maker == Maker::self) {
    header = {wire::host_memory_magic, wire::host_memory_version, count, layout.area_bytes};
  } else if (header.magic != wire::host_memory_magic ||
             header.version != wire::host_memory_version || header.members != count ||
             header.area_bytes != layout.area_bytes) {
    return base::failure(base::ErrorClass::other,
                         "memory to share on this host: it has another layout than this process "
                         "knows; use the same version of Fulmar in all processes");
  }
  memory.close_file();
  const auto number = static_cast<std::uint32_t>(place - members.begin());
  std::unique_ptr<HostSegment> segment(new HostSegment(std::move(memory), members, number));
  fabric::Shm::Config shm;
  shm.self = number;
  shm.size = count;
  shm.areas = segment->memory_.memory().data() + layout.areas;
  shm.area_bytes = layout.area_bytes;
  shm.single_copy = single_copy;
  shm.token = random_token();
  for (std::uint32_t i = 0; i < count; ++i) {
    shm.processes.push_back({&segment->member(i).pid, &segment->member(i).gone});
  }
  segment->shm_ = std::make_unique<fabric::Shm>(std::move(shm));
  segment->member(number).pid.store(::getpid(), std::memory_order_release);
  segment->set_state(State::inside);
  return segment;
}

HostSegment::HostSegment(device::NodeSegment memory, std::span<const wire::ProcessName> members,
                         std::uint32_t self)
    : memory_(std::move(memory)), members_(members.begin(), members.end()), self_(self) {}

HostSegment::~HostSegment() {
  if (state_of(self_) != State::closed) set_state(State::unmapped);
}

std::uint32_t HostSegment::number_of(const wire::ProcessName& process) const noexcept {
  const auto at = std::ranges::lower_bound(members_, process);
  return at != members_.end() && *at == process ? static_cast<std::uint32_t>(at - members_.begin())
                                                : UINT32_MAX;
}

wire::HostMember& HostSegment::member(std::uint32_t number) const noexcept {
  return reinterpret_cast<wire::HostMember*>(memory_.memory().data() +
                                             sizeof(HostMemoryHeader))[number];
}

wire::HostMemberState HostSegment::state_of(std::uint32_t number) const noexcept {
  return static_cast<State>(member(number).state.load(std::memory_order_acquire));
}

void HostSegment::set_state(State state) noexcept {
  member(self_).state.store(static_cast<std::uint32_t>(state), std::memory_order_seq_cst);
}

std::int32_t HostSegment::pid_of(std::uint32_t number) const noexcept {
  return member(number).pid.load(std::memory_order_acquire);
}

void HostSegment::mark_gone(std::uint32_t number) noexcept {
  member(number).gone.store(1, std::memory_order_release);
}

/// Its last writes are visible once it has ended.
bool HostSegment::has_died(std::uint32_t number) const noexcept {
  const auto is_in_mpi = [&] {
    const State state = state_of(number);
    return state == State::inside || state == State::released;
  };
  const pid_t pid = pid_of(number);
  return pid > 0 && is_in_mpi() && base::process_has_ended(pid) && is_in_mpi();
}

}  // namespace fulmar::runtime
