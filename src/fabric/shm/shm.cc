// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/shm/shm.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/os/futex.h"
#include "fabric/provider.h"

namespace fulmar::fabric {

static_assert(MapsPeers<Shm> && ReachesMemory<Shm>);

namespace {

/// The kernel moves at most this much in one call (MAX_RW_COUNT); stay well below.
constexpr std::uint64_t most_bytes_per_call = std::uint64_t{1} << 30;
constexpr std::size_t most_pieces_per_call = 1024;

/// A window over `pieces` that starts `skip` bytes in and holds at most `limit` bytes.
struct PieceWindow {
  std::array<iovec, most_pieces_per_call> pieces;
  std::size_t count = 0;
  std::uint64_t bytes = 0;

  PieceWindow(std::span<const iovec> from, std::uint64_t skip, std::uint64_t limit) noexcept {
    for (const iovec& piece : from) {
      if (count == pieces.size() || bytes == limit) break;
      if (skip >= piece.iov_len) {
        skip -= piece.iov_len;
        continue;
      }
      const std::uint64_t length = std::min<std::uint64_t>(piece.iov_len - skip, limit - bytes);
      pieces[count++] = {static_cast<char*>(piece.iov_base) + skip, length};
      bytes += length;
      skip = 0;
    }
  }
};

}  // namespace

Shm::Shm(Config config) noexcept
    : self_(config.self),
      size_(config.size),
      areas_(config.areas),
      area_bytes_(config.area_bytes),
      processes_(std::move(config.processes)),
      reach_(config.size, config.single_copy ? Reach::unknown : Reach::no),
      token_(config.token) {
  auto* control = reinterpret_cast<wire::AreaControl*>(area(self_));
  control->probe_token.store(token_, std::memory_order_relaxed);
  control->probe_address.store(reinterpret_cast<std::uintptr_t>(&token_),
                               std::memory_order_release);
}

bool Shm::alive(std::uint32_t peer) const noexcept {
  const auto* gone = processes_[peer].gone;
  return gone == nullptr || gone->load(std::memory_order_relaxed) == 0;
}

void Shm::wake(std::uint32_t peer) noexcept {
  auto* control = reinterpret_cast<wire::AreaControl*>(area(peer));
  const auto where =
      static_cast<wire::Asleep>(control->asleep.exchange(0, std::memory_order_acq_rel));
  if (where == wire::Asleep::on_socket && wake_socket_ != nullptr) {
    wake_socket_->ring(control->wake_name.load(std::memory_order_relaxed));
  } else if (where != wire::Asleep::no) {
    base::futex_wake(control->asleep, 1, base::FutexScope::shared);
  }
}

void Shm::use_wake_socket(const base::WakeSocket& socket) noexcept {
  wake_socket_ = &socket;
  reinterpret_cast<wire::AreaControl*>(area(self_))
      ->wake_name.store(socket.name(), std::memory_order_relaxed);
}

void Shm::came_back() noexcept {
  for (Reach& each : reach_) {
    if (each == Reach::yes) each = Reach::unknown;
  }
}

bool Shm::reach(std::uint32_t peer) noexcept {
  if (reach_[peer] == Reach::unknown) reach_[peer] = probe(peer);
  return reach_[peer] == Reach::yes;
}

Shm::Reach Shm::probe(std::uint32_t peer) noexcept {
  // The pid alone could name a process of another namespace: only a process that has the token of
  // the peer at the address that it has published is the peer.
  const pid_t pid = processes_[peer].pid->load(std::memory_order_acquire);
  const auto* control = reinterpret_cast<const wire::AreaControl*>(area(peer));
  const std::uint64_t address = control->probe_address.load(std::memory_order_acquire);
  if (pid <= 0 || address == 0) return Reach::unknown;
  std::uint64_t token = 0;
  const iovec local{&token, sizeof token};
  const iovec remote{reinterpret_cast<void*>(address), sizeof token};
  const ssize_t moved = ::process_vm_readv(pid, &local, 1, &remote, 1, 0);
  const bool same =
      moved == sizeof token && token == control->probe_token.load(std::memory_order_relaxed);
  return same ? Reach::yes : Reach::no;
}

base::Error Shm::read(std::uint32_t peer, std::span<const iovec> local, std::uint64_t remote,
                      std::uint64_t bytes) noexcept {
  return copy(Direction::read, peer, local, remote, bytes);
}

base::Error Shm::write(std::uint32_t peer, std::span<const iovec> local, std::uint64_t remote,
                       std::uint64_t bytes) noexcept {
  return copy(Direction::write, peer, local, remote, bytes);
}

base::Error Shm::copy(Direction direction, std::uint32_t peer, std::span<const iovec> local,
                      std::uint64_t remote, std::uint64_t bytes) noexcept {
  const pid_t pid = processes_[peer].pid->load(std::memory_order_relaxed);
  std::uint64_t done = 0;
  while (done < bytes) {
    const PieceWindow window(local, done, std::min(bytes - done, most_bytes_per_call));
    const iovec there{reinterpret_cast<void*>(remote + done), window.bytes};
    const ssize_t moved =
        direction == Direction::read
            ? ::process_vm_readv(pid, window.pieces.data(), window.count, &there, 1, 0)
            : ::process_vm_writev(pid, window.pieces.data(), window.count, &there, 1, 0);
    if (moved > 0) {
      done += static_cast<std::uint64_t>(moved);
      continue;
    }
    const int reason = moved < 0 ? errno : EFAULT;
    if (reason == EINTR) continue;
    if (reason != EFAULT) reach_[peer] = Reach::no;
    return base::failure(
        base::ErrorClass::other,
        "copy of %llu bytes with process %d failed: %s; data go through shared memory instead",
        static_cast<unsigned long long>(bytes), static_cast<int>(pid), std::strerror(reason));
  }
  return {};
}

}  // namespace fulmar::fabric
