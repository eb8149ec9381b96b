// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

/// What libmpi_abi gives to the libraries of interfaces/ (librwapi, libsisci): frames between the
/// processes of the job, memory that processes of a node share, and progress. docs/adr/0028 says
/// why. It is no public interface: the libraries are built and installed with the libmpi_abi that
/// they use, and `core_version` says so when they are not.
namespace fulmar::interfaces {

/// Raised with every change of this header.
inline constexpr std::uint32_t core_version = 2;

/// The longest header of a frame, in bytes.
inline constexpr std::size_t most_header_bytes = 512;
/// The most frames to one peer that the peer has not delivered; more wait at the sender.
inline constexpr std::uint32_t frame_window = 256;

/// Each library has one port, and talks to the same one in other processes.
enum class PortId : std::uint8_t { rwapi = 1, sisci = 2 };

/// What became of a frame that was sent.
enum class Outcome : std::uint8_t {
  done,    ///< the payload's memory is the sender's again
  failed,  ///< the peer has failed or closed its port; the memory is the sender's again
};

/// Memory of this node that several processes map. Zeros when it is made.
struct Segment {
  std::byte* base = nullptr;
  std::size_t bytes = 0;
};

/// A frame that came. The header lies in memory that is gone when the call returns.
struct Frame {
  std::uint32_t peer = 0;
  std::uint8_t kind = 0;
  std::span<const std::byte> header;  ///< the peer's word: nothing in it has been checked
  std::uint64_t payload_bytes = 0;
};

/// A library on a port. All members are called with the port's lock held, in progress: they must not
/// wait, and may send. Frames of one peer come in the order in which they were sent; what two peers
/// send has no order.
class Client {
 public:
  /// A frame with a payload has come; when all frames before it are delivered is not said yet. Where
  /// the payload goes: payload_bytes bytes that stay until `deliver`. nullptr: it is thrown away, and
  /// `deliver` says so.
  [[nodiscard]] virtual std::byte* begin(const Frame& frame) noexcept = 0;
  /// What became of the payload, if there is one.
  enum class Payload : std::uint8_t { none, here, refused, lost };
  /// Called once for every frame, in order. `lost`: the peer has failed in the middle.
  virtual void deliver(const Frame& frame, Payload payload) noexcept = 0;
  /// A segment that `peer` has shared is mapped here (owned by the client from now on, who gives it
  /// back by `release_segment`), or cannot be: nullptr.
  virtual void segment_mapped(std::uint32_t peer, std::uint64_t id, Segment* segment) noexcept = 0;
  /// The peer has failed, or closed its port: nothing comes from it any more. Once for each peer.
  virtual void peer_lost(std::uint32_t peer) noexcept = 0;
  /// With every look at progress; returns how much moved.
  virtual unsigned step() noexcept = 0;

 protected:
  ~Client() = default;
};

/// Told of the end of one frame. Must stay until then.
struct SendCompletion {
  void (*done)(SendCompletion&, Outcome) noexcept = nullptr;
};

/// One library's way to the other processes of the job, which are named by their ranks. Made by
/// fulmar_interfaces_open, gone with `close`.
///
/// Thread rule: any thread. `lock` and `unlock` hold what all members (and the client) are guarded
/// by; they nest.
class Port {
 public:
  [[nodiscard]] virtual std::uint32_t rank() const noexcept = 0;
  [[nodiscard]] virtual std::uint32_t size() const noexcept = 0;
  /// Whether the process shares memory with this one. True of this process itself.
  [[nodiscard]] virtual bool on_node(std::uint32_t peer) const noexcept = 0;
  /// Whether the process has failed or closed its port.
  [[nodiscard]] virtual bool lost(std::uint32_t peer) const noexcept = 0;

  /// Takes frames from now on, once. The client hears nothing before.
  virtual void start() noexcept = 0;
  virtual void lock() noexcept = 0;
  virtual void unlock() noexcept = 0;

  /// Sends a frame to another process; never waits. The header, at most most_header_bytes, is
  /// copied; the payload's memory stays until `completion`, which may be called before this returns.
  /// Without a completion nobody is told. False where no memory is left: nothing was sent, and
  /// nobody is told.
  [[nodiscard]] virtual bool send(std::uint32_t peer, std::uint8_t kind,
                                  std::span<const std::byte> header,
                                  std::span<const std::byte> payload,
                                  SendCompletion* completion) noexcept = 0;
  /// Sends what a network holds back for more: for calls after which the program may not make another one for a while.
  virtual void release() noexcept = 0;
  /// Frames to the peer that it has not delivered.
  [[nodiscard]] virtual std::uint32_t undelivered(std::uint32_t peer) const noexcept = 0;

  /// Looks once at everything that can move.
  virtual void progress() noexcept = 0;
  /// Makes progress until `holds(context)`, called with the lock held, is true. Sleeps meanwhile. A
  /// time in ns from now, or `for_ever`. Whether it holds.
  static constexpr std::int64_t for_ever = -1;
  [[nodiscard]] virtual bool wait(bool (*holds)(void*) noexcept, void* context,
                                  std::int64_t timeout_ns) noexcept = 0;
  /// A condition of a wait has changed other than by a frame: who waits looks again.
  virtual void notify() noexcept = 0;
  /// Waits until every process that has not failed has called it as often.
  virtual void barrier() noexcept = 0;
  /// Waits until all frames that were sent are delivered, or their receivers lost.
  virtual void flush() noexcept = 0;

  /// Memory that processes of this node may map; nullptr where there is none (`why` is for people,
  /// and stays).
  [[nodiscard]] virtual Segment* make_segment(std::size_t bytes, const char** why) noexcept = 0;
  /// Unmaps it; an offer that nobody took is withdrawn.
  virtual void release_segment(Segment* segment) noexcept = 0;
  /// Gives a segment of this process to a process of this node, whose client hears
  /// `segment_mapped(…, id, …)`. False: it cannot be offered.
  [[nodiscard]] virtual bool share(Segment* segment, std::uint32_t peer,
                                   std::uint64_t id) noexcept = 0;

  /// A value that only processes of this job can compute for these bytes and this owner.
  [[nodiscard]] virtual std::uint64_t seal(std::uint32_t owner,
                                           std::span<const std::byte> bytes) const noexcept = 0;
  /// Memory that stays until `disown`: adapters may keep it registered.
  virtual void own(std::span<std::byte> block) noexcept = 0;
  virtual void disown(std::span<std::byte> block) noexcept = 0;

  /// Takes nothing any more and leaves the job's runtime; the port is gone on return. Segments are
  /// released before. `together`: all processes do so, after `flush` and `barrier`, and may open the
  /// port again. `alone`: the others are told that this process is lost to them; it must not open the
  /// port again.
  enum class Leaving : std::uint8_t { together, alone };
  virtual void close(Leaving leaving) noexcept = 0;

 protected:
  ~Port() = default;
};

/// Threads of the program that call the library.
enum class Threads : std::uint8_t { one, many };

}  // namespace fulmar::interfaces

extern "C" {
/// Brings this process into its job (under any launcher; docs/launchers.md), if MPI or another
/// library has not done so, and opens the port, which `start` sets to work. A thread of the library
/// makes progress while the program computes, where the job has other processes. nullptr on
/// failure, also for another version or a port that is open; `why` is for people then, and valid
/// until the next call.
[[nodiscard, gnu::visibility("default")]] fulmar::interfaces::Port* fulmar_interfaces_open(
    std::uint32_t version, fulmar::interfaces::PortId id, fulmar::interfaces::Client* client,
    fulmar::interfaces::Threads threads, const char** why) noexcept;
}
