// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "interfaces/core.h"
#include "wire/interfaces/rwapi.h"

namespace fulmar::rwapi {

/// Runs of free bytes of one piece of memory, first fit, joined with their neighbours when they come
/// back. Offsets and lengths are in bytes.
class FreeRanges {
 public:
  FreeRanges(std::uint64_t begin, std::uint64_t bytes) { ranges_.emplace(begin, bytes); }
  /// Nothing where no run is long enough.
  [[nodiscard]] std::optional<std::uint64_t> take(std::uint64_t bytes);
  void give_back(std::uint64_t begin, std::uint64_t bytes);
  [[nodiscard]] std::size_t runs() const noexcept { return ranges_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;
};

/// The blocks of this node: what rwapi_alloc gives, published at the front of the node's segment so
/// that processes of the host can check addresses themselves.
///
/// A freed block is invalid at once. Its memory is used again when no message of this process
/// reads or writes it (`uses`) and no process of the host is in the middle of writing to it.
///
/// Thread rule: the port's lock.
class Arena {
 public:
  /// A segment that has room for so many queues of small messages and at least one page of blocks.
  Arena(interfaces::Port& port, interfaces::Segment& segment, std::uint32_t queues);
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena();

  static constexpr std::size_t least_block_bytes = 4096;

  /// What the process that is the n-th one of this host sends to this one; n is below `queues`.
  [[nodiscard]] wire::RwapiSmallQueue& queue(std::uint32_t n) noexcept;

  /// A block of at least one byte; nothing without memory.
  struct Allocated {
    std::byte* address;
    std::uint32_t block;
    std::uint32_t generation;
    std::uint64_t seal;
  };
  [[nodiscard]] std::optional<Allocated> allocate(std::size_t bytes);
  /// False: no block begins there.
  [[nodiscard]] bool free(const void* address);

  /// A range of an own block by its network address. RWAPI_ERR_ADDRESS, RWAPI_ERR_RANGE or
  /// RWAPI_OK, and where it begins.
  struct Place {
    int error;
    std::byte* address;
  };
  [[nodiscard]] Place find(const wire::RwapiWrite& address, std::uint64_t bytes) const noexcept;

  /// A message reads or writes the block until `end_use`.
  void begin_use(std::uint32_t block) noexcept { ++blocks_[block].uses; }
  void end_use(std::uint32_t block) noexcept;

  /// An arena of another process of this host, whose target tells what it is writing to.
  void add_neighbour(const wire::RwapiArena& arena) { neighbours_.push_back(&arena); }
  void remove_neighbour(const wire::RwapiArena& arena) { std::erase(neighbours_, &arena); }

  /// For the straight way: the block to which this process writes; 0: none.
  void set_target(std::uint64_t target) noexcept;

 private:
  struct Block {
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
    std::uint32_t generation = 0;
    std::uint32_t uses = 0;
    bool live = false;
    bool leaving = false;  ///< freed, but its memory may be in use
  };
  [[nodiscard]] bool is_written_to(std::uint32_t block) const noexcept;
  void clear(std::uint64_t begin, std::uint64_t bytes) noexcept;
  void reclaim();

  interfaces::Port& port_;
  wire::RwapiArena& shared_;
  std::byte* base_;
  FreeRanges ranges_;
  std::vector<Block> blocks_;
  std::deque<std::uint32_t> free_blocks_;  ///< their numbers; used again in turn
  std::map<std::uint64_t, std::uint32_t> by_begin_;
  std::vector<std::uint32_t> leaving_;
  std::vector<const wire::RwapiArena*> neighbours_;
};

/// An arena of another process, as it is mapped here. Nothing in it is believed.
///
/// Thread rule: the port's lock.
class RemoteArena {
 public:
  /// Nothing for memory that is no arena.
  [[nodiscard]] static std::optional<RemoteArena> of(const interfaces::Segment& segment) noexcept;

  /// As Arena::find. Between the two calls of the own Arena's set_target.
  [[nodiscard]] Arena::Place find(const interfaces::Port& port, std::uint32_t node,
                                  const wire::RwapiWrite& address,
                                  std::uint64_t bytes) const noexcept;
  [[nodiscard]] const wire::RwapiArena& shared() const noexcept { return *shared_; }
  /// As Arena::queue; nullptr where the arena has none of this number.
  [[nodiscard]] wire::RwapiSmallQueue* queue(std::uint32_t n) const noexcept;

 private:
  RemoteArena(wire::RwapiArena& shared, std::byte* base, std::uint64_t bytes,
              std::uint32_t queues) noexcept
      : shared_(&shared), base_(base), bytes_(bytes), queues_(queues) {}

  wire::RwapiArena* shared_;
  std::byte* base_;
  std::uint64_t bytes_;
  std::uint32_t queues_;
};

}  // namespace fulmar::rwapi
