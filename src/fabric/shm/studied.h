// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "fabric/provider.h"
#include "fabric/shm/shm.h"

namespace fulmar::fabric {

/// The same shared memory for the designs of the study: a type of its own, so that the choice
/// between their channel and the one for every day costs the latter nothing. Does not own the
/// provider.
class StudiedShm {
 public:
  static constexpr const char* name = Shm::name;
  static constexpr bool lends_pipes = true;

  explicit StudiedShm(Shm& shm) noexcept : shm_(shm) {}
  StudiedShm(const StudiedShm&) = delete;
  StudiedShm& operator=(const StudiedShm&) = delete;

  [[nodiscard]] std::uint32_t self() const noexcept { return shm_.self(); }
  [[nodiscard]] std::uint32_t size() const noexcept { return shm_.size(); }
  [[nodiscard]] bool alive(std::uint32_t peer) const noexcept { return shm_.alive(peer); }
  [[nodiscard]] std::byte* area(std::uint32_t peer) noexcept { return shm_.area(peer); }
  [[nodiscard]] std::uint64_t area_bytes() const noexcept { return shm_.area_bytes(); }
  void wake(std::uint32_t peer) noexcept { shm_.wake(peer); }
  void use_wake_socket(const base::WakeSocket& socket) noexcept { shm_.use_wake_socket(socket); }
  [[nodiscard]] bool reach(std::uint32_t peer) noexcept { return shm_.reach(peer); }
  [[nodiscard]] base::Error read(std::uint32_t peer, std::span<const iovec> local,
                                 std::uint64_t remote, std::uint64_t bytes) noexcept {
    return shm_.read(peer, local, remote, bytes);
  }
  [[nodiscard]] base::Error write(std::uint32_t peer, std::span<const iovec> local,
                                  std::uint64_t remote, std::uint64_t bytes) noexcept {
    return shm_.write(peer, local, remote, bytes);
  }

 private:
  Shm& shm_;
};
static_assert(LendsPipes<StudiedShm> && ReachesMemory<StudiedShm>);

}  // namespace fulmar::fabric
