// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "study/mapped_design.h"

#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <utility>

namespace fulmar::study {

/// Hands packets on under the senders' ranks.
class MappedDesign::RankSink {
 public:
  RankSink(const std::vector<std::uint32_t>& ranks, fabric::SinkRef sink) noexcept
      : ranks_(ranks), sink_(sink) {}

  void packet(std::uint32_t number, const wire::Envelope& envelope, const fabric::Body& body) {
    sink_.packet(ranks_[number], envelope, body);
  }
  [[nodiscard]] std::span<const iovec> place(std::uint32_t number, const wire::Envelope& envelope,
                                             std::span<const std::byte> prefix,
                                             std::uint64_t offset, std::uint64_t bytes) {
    return sink_.place(ranks_[number], envelope, prefix, offset, bytes);
  }
  void placed(std::uint32_t number, const wire::Envelope& envelope,
              std::span<const std::byte> prefix, std::uint64_t offset, std::uint64_t bytes) {
    sink_.placed(ranks_[number], envelope, prefix, offset, bytes);
  }
  void part(std::uint32_t number, const wire::Envelope& envelope, std::span<const std::byte> prefix,
            std::uint64_t offset, std::span<const std::byte> payload) {
    sink_.part(ranks_[number], envelope, prefix, offset, payload);
  }
  void sent(std::uint64_t token, fabric::Sent how) { sink_.sent(token, how); }

 private:
  const std::vector<std::uint32_t>& ranks_;
  fabric::SinkRef sink_;
};

base::Result<std::unique_ptr<MappedDesign>> MappedDesign::open(fabric::Shm& shm, Config config) {
  const PipeLayout layout = Channel::layout_of(shm.size(), shm.area_bytes());
  if (layout.pipe_bytes == 0) {
    return base::failure(
        base::ErrorClass::no_mem,
        "FULMAR_CHANNEL: the job's segment gives each of the %u ranks %llu bytes, too few for the "
        "pipes of a design; take fewer ranks, or leave FULMAR_CHANNEL out",
        shm.size(), static_cast<unsigned long long>(shm.area_bytes()));
  }
  auto socket = base::WakeSocket::open();
  if (socket.failed()) return socket.error();
  const std::uint32_t chunk = usable_chunk(config.plan.chunk_bytes, layout.ring_bytes);
  return std::unique_ptr<MappedDesign>(
      new MappedDesign(shm, std::move(config), chunk, std::move(*socket)));
}

MappedDesign::MappedDesign(fabric::Shm& shm, Config config, std::uint32_t chunk_bytes,
                           base::WakeSocket socket)
    : DesignNetwork(fabric::Shm::name, attributes_of(chunk_bytes)),
      config_(std::move(config)),
      shm_(shm),
      socket_(std::move(socket)),
      channel_(shm) {
  channel_.choose(config_.plan);
  shm_.use_wake_socket(socket_);
  if (!config_.has_membarrier) channel_.require_sender_fence();
}

std::uint32_t MappedDesign::number_of(std::uint32_t rank) const noexcept {
  const auto at = std::lower_bound(config_.ranks.begin(), config_.ranks.end(), rank);
  return static_cast<std::uint32_t>(at - config_.ranks.begin());
}

fabric::Post MappedDesign::post(std::uint32_t peer, const wire::Envelope& envelope,
                                std::span<const std::byte> body) {
  return channel_.post(number_of(peer), envelope, body);
}

fabric::Post MappedDesign::post_in_place(std::uint32_t peer, const wire::Envelope& envelope,
                                         std::span<const std::byte> prefix,
                                         std::span<const iovec> pieces, std::uint64_t token) {
  return channel_.post_in_place(number_of(peer), envelope, prefix, pieces, token);
}

unsigned MappedDesign::poll(fabric::SinkRef sink) {
  RankSink ranked(config_.ranks, sink);
  return channel_.get(ranked);
}

/// A sender that wrote before the barrier is seen here; one that writes later sees the word.
bool MappedDesign::arm() {
  socket_.drain();
  channel_.announce_sleep(wire::Asleep::on_socket);
  if (config_.has_membarrier &&
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0) != 0) {
    config_.has_membarrier = false;
    channel_.require_sender_fence();
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return !channel_.has_news();
}

bool MappedDesign::reach(std::uint32_t peer) noexcept { return channel_.reach(number_of(peer)); }

base::Error MappedDesign::read(std::uint32_t peer, std::span<const iovec> local,
                               std::uint64_t remote, std::uint64_t bytes) noexcept {
  return shm_.read(number_of(peer), local, remote, bytes);
}

base::Error MappedDesign::write(std::uint32_t peer, std::span<const iovec> local,
                                std::uint64_t remote, std::uint64_t bytes) noexcept {
  return shm_.write(number_of(peer), local, remote, bytes);
}

bool MappedDesign::alive(std::uint32_t peer) const noexcept { return shm_.alive(number_of(peer)); }

bool MappedDesign::gone(std::uint32_t peer) const noexcept {
  return config_.has_left != nullptr && config_.has_left(config_.owner, peer);
}

}  // namespace fulmar::study
