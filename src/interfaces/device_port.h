// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "base/siphash.h"
#include "device/device.h"
#include "interfaces/core.h"
#include "interfaces/segment_exchange.h"
#include "wire/interfaces/frame.h"

namespace fulmar::interfaces {

/// The longest frame. Shorter payloads travel in the frame, longer ones as messages of their own.
inline constexpr std::size_t frame_bytes = 4096;

/// A port on a device. A frame is an eager message in a context that no communicator has, for which
/// receives from any process are always posted; a long payload is a message that the receiver asks
/// for once its client has said where it goes, so it takes whatever way is fastest between the two
/// processes (docs/architecture.md, Protocols), and nothing of it is copied on the way.
///
/// Messages of one pair are matched in order, but may be complete in another one, so frames are
/// numbered. A frame is delivered when its payload is there and all frames before it are delivered;
/// then it is acknowledged (`credits`), and the sender has at most `frame_window` frames that are
/// not. So what a process keeps for one that does not take anything is bounded.
class DevicePort final : public Port, private device::ProgressCallback {
 public:
  /// `device` and `client` outlive this. `life`: see wire::frame_context.
  DevicePort(device::Device& device, PortId id, Client& client, std::uint32_t life = 0);
  DevicePort(const DevicePort&) = delete;
  DevicePort& operator=(const DevicePort&) = delete;
  ~DevicePort();

  [[nodiscard]] std::uint32_t rank() const noexcept override { return rank_; }
  [[nodiscard]] std::uint32_t size() const noexcept override { return size_; }
  [[nodiscard]] bool on_node(std::uint32_t peer) const noexcept override;
  [[nodiscard]] bool lost(std::uint32_t peer) const noexcept override;
  void start() noexcept override;
  void lock() noexcept override { device_.lock().acquire(); }
  void unlock() noexcept override { device_.lock().release(); }
  [[nodiscard]] bool send(std::uint32_t peer, std::uint8_t kind, std::span<const std::byte> header,
                          std::span<const std::byte> payload,
                          SendCompletion* completion) noexcept override;
  void release() noexcept override { device_.release_held(); }
  [[nodiscard]] std::uint32_t undelivered(std::uint32_t peer) const noexcept override;
  void progress() noexcept override;
  [[nodiscard]] bool wait(bool (*holds)(void*) noexcept, void* context,
                          std::int64_t timeout_ns) noexcept override;
  void notify() noexcept override;
  void barrier() noexcept override;
  void flush() noexcept override;
  [[nodiscard]] Segment* make_segment(std::size_t bytes, const char** why) noexcept override;
  void release_segment(Segment* segment) noexcept override;
  [[nodiscard]] bool share(Segment* segment, std::uint32_t peer,
                           std::uint64_t id) noexcept override;
  [[nodiscard]] std::uint64_t seal(std::uint32_t owner,
                                   std::span<const std::byte> bytes) const noexcept override;
  void own(std::span<std::byte> block) noexcept override;
  void disown(std::span<std::byte> block) noexcept override;
  void close(Leaving leaving) noexcept override;

  /// Takes back the receives. Before the destructor; `close` does it.
  void stop(Leaving leaving) noexcept;
  /// Called by `close` when the port is gone.
  void (*on_closed)(PortId id) noexcept = nullptr;

  /// Frames that were no frames, or made no sense.
  [[nodiscard]] std::uint64_t malformed() const noexcept { return malformed_; }

 private:
  struct Posted;
  struct SentFrame;
  struct KeptFrame;
  struct Peer;

  Peer& peer(std::uint32_t rank);
  // device_port_send.cc
  SentFrame* make_frame(std::uint32_t peer, const wire::FrameHeader& header,
                        std::span<const std::byte> body,
                        std::span<const std::byte> payload) noexcept;
  void dispatch(Peer& peer, SentFrame& frame) noexcept;
  void send_waiting(Peer& peer) noexcept;
  void send_system(std::uint32_t peer, wire::SystemKind kind,
                   std::span<const std::byte> body) noexcept;
  void part_sent(SentFrame& frame) noexcept;
  void payload_sent(SentFrame& frame) noexcept;
  void fail_waiting(Peer& peer) noexcept;
  // device_port_receive.cc
  void post(Posted& receive) noexcept;
  void take(std::uint32_t from, std::span<const std::byte> bytes) noexcept;
  void take_credits_of(Peer& peer, std::uint16_t credits) noexcept;
  void take_numbered(Peer& peer, const wire::FrameView& view,
                     std::span<const std::byte> bytes) noexcept;
  void take_next(Peer& peer, const wire::FrameView& view) noexcept;
  void keep(Peer& peer, const wire::FrameView& view) noexcept;
  void take_system(Peer& peer, const wire::FrameView& view) noexcept;
  void deliver_pending(Peer& peer) noexcept;
  void delivered(Peer& peer) noexcept;
  void lose(Peer& peer) noexcept;
  unsigned look() noexcept;

  device::Device& device_;
  Client& client_;
  PortId id_;
  std::uint32_t frame_context_;
  std::uint32_t payload_context_;
  std::uint32_t rank_;
  std::uint32_t size_;
  base::SipHash hash_;
  SegmentExchange segments_;
  std::vector<std::unique_ptr<Peer>> peers_;  ///< by rank; null: nothing to do with it so far
  std::vector<std::unique_ptr<Posted>> receives_;
  std::vector<std::unique_ptr<SentFrame>> frames_;  ///< all, in use or not
  std::vector<SentFrame*> free_frames_;
  std::size_t failures_seen_ = 0;  ///< of the device's list
  std::uint32_t barrier_epoch_ = 0;
  std::set<std::array<std::uint32_t, 3>> barrier_arrivals_;  ///< epoch, round, rank
  std::uint64_t malformed_ = 0;
  bool started_ = false;
  bool stopping_ = false;
};

}  // namespace fulmar::interfaces
