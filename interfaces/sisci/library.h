// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "interfaces/core.h"
#include "sisci/callbacks.h"
#include "sisci/nodes.h"
#include "sisci/objects.h"
#include "wire/interfaces/sisci.h"
#include "wire/packets.h"

/// SISCI in one process.
///
/// Each process is a node. A node that connects to a segment or an interrupt gets a grant from the owner:
/// a number and a seal, which only processes of the job can compute, and which every access shows
/// (grants.h). Where the two share memory the owner shares the segment's, and loads, stores and
/// transfers need neither frames nor the owner. Elsewhere a transfer is a frame and a payload that goes from
/// memory to memory, which the owner checks and answers (transfers.h).
///
/// What a process sends to itself takes the same way through the functions for frames (`post`).
namespace fulmar::sisci {

struct Library;

/// A grant of this node to a node that has connected.
struct Grant {
  bool is_live = false;
  std::uint32_t generation = 0;
  std::uint32_t peer = 0;
  std::uint64_t request = 0;
  wire::SisciObject object = wire::SisciObject::segment;
  std::uint32_t number = 0;
  std::uint64_t bytes = 0;
  LocalSegment* segment = nullptr;  ///< of segments
};

/// A payload that is arriving. Those of one node arrive in the order in which they begin.
struct Landing {
  sci_error_t status = SCI_ERR_OK;
  wire::SisciTransfer request{};    ///< of a write
  LocalSegment* segment = nullptr;  ///< used by it
  std::uint32_t addend = 0;
  std::vector<std::byte> data;  ///< for the data interrupts with this number
  std::uint32_t number = 0;
  struct Transfer* transfer = nullptr;  ///< of an own read
};

/// What is to know of another node, or of this one.
struct Peer {
  std::deque<Landing> landings;
  std::uint32_t grants = 0;
  std::uint32_t reads_served = 0;
  std::uint32_t reads = 0;  ///< own ones of its memory that are under way
};

/// A write or read of another node's memory that is under way. It ends when its memory is not used any
/// more and the answer has come.
struct Transfer : interfaces::SendCompletion {
  Library* library = nullptr;
  std::uint64_t number = 0;
  std::uint32_t rank = 0;
  std::span<std::byte> target;  ///< of a read
  bool is_read = false;
  bool is_sent = false;
  bool is_answered = false;
  bool is_landing = false;
  sci_error_t status = SCI_ERR_OK;
  TransferGroup* group = nullptr;
};

/// What the port calls.
class Frames final : public interfaces::Client {
 public:
  explicit Frames(Library& library) noexcept : library_(library) {}
  [[nodiscard]] std::byte* begin(const interfaces::Frame& frame) noexcept override;
  void deliver(const interfaces::Frame& frame, Payload payload) noexcept override;
  void segment_mapped(std::uint32_t peer, std::uint64_t id,
                      interfaces::Segment* segment) noexcept override;
  void peer_lost(std::uint32_t peer) noexcept override;
  unsigned step() noexcept override { return 0; }

 private:
  Library& library_;
};

struct Library {
  Library() = default;
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  ~Library() = default;

  interfaces::Port* port = nullptr;
  Frames frames{*this};
  Nodes nodes;
  Callbacks callbacks;
  std::uint32_t users = 0;  ///< calls of SCIInitialize without their SCITerminate

  Pool<Descriptor> descriptors;
  Pool<LocalSegment> local_segments;
  Pool<RemoteSegment> remote_segments;
  Pool<Map> maps;
  Pool<Sequence> sequences;
  Pool<LocalInterrupt> interrupts;
  Pool<LocalDataInterrupt> data_interrupts;
  Pool<RemoteInterrupt> remote_interrupts;
  Pool<RemoteDataInterrupt> remote_data_interrupts;
  Pool<DmaQueue> queues;
  Pool<BlockTransfer> blocks;

  std::vector<Peer> peers;  ///< by rank
  std::vector<Grant> grants;
  std::deque<std::uint32_t> free_grants;
  std::unordered_map<std::uint64_t, Connection*> requests;  ///< connections by their requests
  std::uint64_t last_request = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<Transfer>> transfers;
  std::uint64_t last_transfer = 0;
  std::chrono::steady_clock::time_point last_progress;  ///< of progress_now_and_then
};

/// Joins the job; the library is of use afterwards. SCI_ERR_OK, or after a line on stderr
/// SCI_ERR_NO_LINK_ACCESS or SCI_ERR_INCONSISTENT_VERSIONS.
[[nodiscard]] sci_error_t join(Library& library);
/// Takes the numbers of nodes from the file that FULMAR_SISCI_NODES names, if it does. False, after a line on
/// stderr, where something is wrong with it.
[[nodiscard]] bool read_nodes(Library& library);
/// Uses a port that has not been started; part of `join`.
void attach(Library& library, interfaces::Port& port);
/// Removes all objects; what still comes is refused. Callbacks have been stopped.
void clear(Library& library);
/// Leaves the job. Nothing works afterwards.
void leave(Library& library) noexcept;

/// Holds the lock of the port.
class Locked {
 public:
  explicit Locked(Library& library) noexcept : port_(*library.port) { port_.lock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  ~Locked() { port_.unlock(); }

 private:
  interfaces::Port& port_;
};
/// Gives it up for a while, where it is held once.
class Unlocked {
 public:
  explicit Unlocked(Library& library) noexcept : port_(*library.port) { port_.unlock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;
  ~Unlocked() { port_.lock(); }

 private:
  interfaces::Port& port_;
};

/// Makes progress until `holds()`, called with the lock held, is true; whether it is. The lock may be held,
/// and is given up meanwhile. `timeout_ms` as of SISCI.
template <class Holds>
[[nodiscard]] bool wait(Library& library, Holds&& holds, std::uint32_t timeout_ms) {
  constexpr std::int64_t ns_per_ms = 1'000'000;
  const std::int64_t timeout_ns =
      timeout_ms == UINT32_MAX ? interfaces::Port::for_ever : timeout_ms * ns_per_ms;
  return library.port->wait(
      [](void* context) noexcept -> bool {
        return (*static_cast<std::remove_reference_t<Holds>*>(context))();
      },
      const_cast<void*>(static_cast<const void*>(&holds)), timeout_ns);
}

/// Sends a frame, to this node as well. As Port::send.
[[nodiscard]] bool post(Library& library, std::uint32_t rank, wire::SisciKind kind,
                        std::span<const std::byte> header, std::span<const std::byte> payload = {},
                        interfaces::SendCompletion* completion = nullptr) noexcept;

/// Makes progress, if this was not called within the last ms: for calls that need none themselves (a look at a
/// network costs tens of us).
void progress_now_and_then(Library& library) noexcept;

/// A node's number for the program. Requires a rank of the job.
[[nodiscard]] inline std::uint32_t node_of(const Library& library, std::uint32_t rank) noexcept {
  return library.nodes.id_of(rank);
}

/// Waits for the callback of the object, if one is running and the caller is not in it.
template <class T>
void await_callback(Library& library, Pool<T>& pool, T& object) {
  if (!object.is_called_back || library.callbacks.is_current()) return;
  const std::uint64_t serial = object.serial;
  (void)wait(
      library, [&]() noexcept { return !pool.has(&object, serial) || !object.is_called_back; },
      UINT32_MAX);
}

/// Has the object's callback called until `take(object)` gives nothing more. It is called with the lock
/// held, and gives what to call without it, std::function<int()>; an answer of SCI_CALLBACK_CANCEL ends
/// callbacks. One call of an object is on its way at a time, so what waits is what the object keeps.
template <class T, class Take>
void call_back(Library& library, Pool<T>& pool, T& object, Take take) {
  if (object.is_queued) return;
  object.is_queued = true;
  library.callbacks.post([&library, &pool, target = &object, serial = object.serial, take] {
    std::function<int()> call;
    {
      const Locked lock(library);
      if (!pool.has(target, serial)) return;
      target->is_queued = false;
      call = take(*target);
      if (!call) return;
      target->is_called_back = true;
    }
    const int action = call();
    const Locked lock(library);
    if (!pool.has(target, serial)) return;
    target->is_called_back = false;
    if (action == SCI_CALLBACK_CANCEL) target->cancel_callback();
    library.port->notify();
    call_back(library, pool, *target, take);
  });
}

}  // namespace fulmar::sisci
