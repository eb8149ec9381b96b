// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "interfaces/core.h"
#include "sisci/sisci_types.h"
#include "wire/interfaces/sisci.h"

/// What the handles of SISCI stand for. All of it is guarded by the port's lock.
namespace fulmar::sisci {

/// What every object has. `serial` tells an object from one that had its address before.
struct Object {
  std::uint64_t serial = 0;
  struct Descriptor* descriptor = nullptr;  ///< null: a descriptor itself
  bool is_called_back = false;              ///< its callback is running
  bool is_queued = false;                   ///< a call of its callback is on its way
};

/// The objects of one type that exist. Handles are their addresses.
template <class T>
class Pool {
 public:
  /// Belongs to the descriptor.
  T& make(Descriptor* descriptor) {
    auto made = std::make_unique<T>();
    T& object = *made;
    object.serial = ++last_serial_;
    object.descriptor = descriptor;
    objects_.emplace(&object, std::move(made));
    return object;
  }
  /// nullptr for what is no object, or none any more.
  [[nodiscard]] T* find(const void* handle) const noexcept {
    const auto place = objects_.find(handle);
    return place == objects_.end() ? nullptr : place->second.get();
  }
  /// Whether it is the object that had this serial.
  [[nodiscard]] bool has(const T* object, std::uint64_t serial) const noexcept {
    const T* const found = find(object);
    return found != nullptr && found->serial == serial;
  }
  void remove(T& object) noexcept { objects_.erase(&object); }
  [[nodiscard]] std::size_t size() const noexcept { return objects_.size(); }
  [[nodiscard]] const auto& all() const noexcept { return objects_; }

 private:
  std::unordered_map<const void*, std::unique_ptr<T>> objects_;
  std::uint64_t last_serial_ = 0;
};

struct Descriptor : Object {
  std::uint32_t objects = 0;  ///< that belong to it
};

struct Event {
  sci_segment_cb_reason_t reason;
  std::uint32_t node = 0;
  sci_error_t status = SCI_ERR_OK;
};
/// Events that were not taken, or the callback that takes them.
template <class Callback>
struct Events {
  std::deque<Event> queue;
  Callback callback = nullptr;
  void* argument = nullptr;
  bool uses_callback = false;  ///< also when it was cancelled: nothing is queued then
  static constexpr std::size_t most_queued = 4096;
};

/// One end of a connection to an object of another node, or of this one: the end that connects.
struct Connection {
  enum class State : std::uint8_t { pending, connected, ended, lost };
  std::uint32_t rank = 0;
  std::uint32_t number = 0;
  wire::SisciObject object = wire::SisciObject::segment;
  std::uint64_t request = 0;
  State state = State::pending;
  bool is_answered = false;    ///< `connected` has come
  bool awaits_memory = false;  ///< the shared segment has not come
  sci_error_t status = SCI_ERR_OK;
  wire::SisciGrant grant{};
  std::uint64_t bytes = 0;
  interfaces::Segment* memory = nullptr;  ///< shared by the owner, or
  std::byte* base = nullptr;              ///< where its bytes are for this process; null: elsewhere
  void* owner = nullptr;                  ///< RemoteSegment, or LocalSegment where it is attached
  bool tells_connect = false;             ///< how it ends is an event
};

/// Transfers that are waited for together.
struct TransferGroup {
  std::uint32_t under_way = 0;
  sci_error_t status = SCI_ERR_OK;  ///< of the first that failed
  bool is_aborted = false;          ///< what comes for its reads is refused
  void* owner = nullptr;            ///< the object that it is part of, for `ended`
  /// Called when the last one has ended; may be null.
  void (*ended)(struct Library&, TransferGroup&) noexcept = nullptr;
};

struct LocalSegment : Object {
  std::uint32_t id = 0;
  std::size_t bytes = 0;
  interfaces::Segment* memory = nullptr;
  std::byte* base = nullptr;  ///< of `memory`, of the program's memory, or of another process's
  bool is_private = false;
  bool is_prepared = false;
  bool is_source_only = false;
  bool is_available = false;
  bool is_shared = false;
  std::uint32_t maps = 0;
  std::uint32_t uses = 0;                ///< transfers that read or write its memory
  std::uint32_t grants = 0;              ///< to other nodes
  std::uint32_t flags = 0;               ///< interrupt flags that are registered in it
  std::unique_ptr<Connection> attached;  ///< where it is one of another process
  Events<sci_cb_local_segment_t> events;
  void cancel_callback() noexcept { events.callback = nullptr; }
};

struct RemoteSegment : Object, Connection {
  std::uint32_t maps = 0;
  std::uint32_t uses = 0;  ///< transfers, without posted writes
  TransferGroup posted;    ///< writes that nothing waits for before SCICheckSequence
  Events<sci_cb_remote_segment_t> events;
  void cancel_callback() noexcept { events.callback = nullptr; }
};

struct Map : Object {
  LocalSegment* local = nullptr;  ///< of this, or
  RemoteSegment* remote = nullptr;
  std::size_t offset = 0;  ///< in the segment
  std::size_t bytes = 0;
  std::byte* address = nullptr;  ///< for loads and stores; null: explicit transfers only
  std::span<std::byte> pages;    ///< that this map has mapped
  std::uint32_t transfer_flags = 0;
  std::uint32_t uses = 0;
};

struct Sequence : Object {
  Map* map = nullptr;
};

/// An interrupt at a word of a segment, which counts what has triggered it.
struct ConditionalCounter {
  static constexpr std::uint64_t most = UINT32_MAX;
  bool is_enabled = true;
  std::uint64_t triggers = 0;
};

struct LocalInterrupt : Object {
  std::uint32_t number = 0;
  bool is_counting = false;
  bool is_shared = false;
  std::uint64_t pending = 0;  ///< triggers that were not taken
  sci_cb_interrupt_t callback = nullptr;
  void* argument = nullptr;
  bool uses_callback = false;
  LocalSegment* segment = nullptr;  ///< where it is at a word
  std::size_t offset = 0;
  bool is_conditional = false;
  ConditionalCounter counter;
  void cancel_callback() noexcept { callback = nullptr; }
};

struct LocalDataInterrupt : Object {
  static constexpr std::size_t most_queued = 1024;
  std::uint32_t number = 0;
  bool is_counting = false;  ///< without effect: data are never merged
  bool is_shared = false;
  std::deque<std::vector<std::byte>> queue;
  sci_cb_data_interrupt_t callback = nullptr;
  void* argument = nullptr;
  bool uses_callback = false;
  void cancel_callback() noexcept { callback = nullptr; }
};

struct RemoteInterrupt : Object, Connection {};
struct RemoteDataInterrupt : Object, Connection {};

struct DmaEntry {
  LocalSegment* local;  ///< null: `memory` is the program's
  std::byte* memory;
  RemoteSegment* remote;
  std::size_t remote_offset;
  std::size_t bytes;
};
struct DmaQueue : Object {
  std::uint32_t most_entries = 0;
  sci_dma_queue_state_t state = SCI_DMAQUEUE_IDLE;
  bool reads = false;
  std::vector<DmaEntry> entries;
  TransferGroup group;
  sci_cb_dma_t callback = nullptr;
  void* argument = nullptr;
  void cancel_callback() noexcept { callback = nullptr; }
};

struct BlockTransfer : Object {
  TransferGroup group;
  Map* source = nullptr;
  Map* destination = nullptr;
  bool has_ended = false;
  bool uses_callback = false;
  sci_cb_block_transfer_t callback = nullptr;
  void* argument = nullptr;
  void cancel_callback() noexcept { callback = nullptr; }
};

}  // namespace fulmar::sisci
