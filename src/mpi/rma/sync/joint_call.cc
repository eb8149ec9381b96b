// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/sync/joint_call.h"

#include <algorithm>

#include "mpi/comm/world.h"
#include "mpi/rma/node/node_calls.h"
#include "mpi/rma/server/accumulate.h"

namespace fulmar::mpi {

JointMemory::JointMemory(Win& win, int origin, std::uint64_t address,
                         std::span<std::byte> own) noexcept
    : win_(win), number_(device::NodeChannel::not_here), address_(address), own_(own) {
  device::NodeChannel* node = win.device->node();
  if (node == nullptr || origin < 0 || origin >= win.size()) return;
  number_ = node->number_of(win.comm->routes[origin].peer);
  reached_ = number_ != device::NodeChannel::not_here && node->shm().reach(number_);
}

bool JointMemory::read_piece(std::span<std::byte> to, std::size_t at) const noexcept {
  const iovec piece{to.data(), to.size()};
  fabric::Shm& shm = win_.device->node()->shm();
  return shm.read(number_, {&piece, 1}, address_ + at, to.size()).ok();
}

std::size_t JointMemory::read() const noexcept {
  return reached_ && read_piece(own_, 0) ? own_.size() : 0;
}

std::size_t JointMemory::write() const noexcept {
  if (!reached_) return 0;
  const iovec piece{own_.data(), own_.size()};
  fabric::Shm& shm = win_.device->node()->shm();
  return shm.write(number_, {&piece, 1}, address_, own_.size()).ok() ? own_.size() : 0;
}

std::size_t JointMemory::accumulate(const Op& op, const Datatype& element) const {
  const auto unit = static_cast<std::size_t>(element.size);
  const std::span<std::byte> room = win_.node.calls->piece_room();
  const std::size_t most = room.size() / unit * unit;
  if (!reached_ || most == 0) return 0;
  std::size_t done = 0;
  while (done < own_.size()) {
    const std::span<std::byte> piece = room.first(std::min(own_.size() - done, most));
    if (!read_piece(piece, done)) break;
    const auto count = static_cast<Count>(piece.size() / unit);
    accumulate_data(op, &element, piece, {own_.data() + done, count, &element});
    done += piece.size();
  }
  return done;
}

}  // namespace fulmar::mpi
