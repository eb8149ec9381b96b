// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "device/rma/remote_access.h"
#include "mpi/args.h"
#include "mpi/rma/win.h"

/// One-sided operations by adapters (RDMA): on memory of ranks that this process does not map and
/// that the network reads and writes without their help. Every rank opens its memory of the window
/// once, for as long as the window lives, and tells the others its key in the exchange that makes the
/// window. An operation is complete at the target as soon as the adapter says that its orders have
/// ended; nothing is asked of the target.
namespace fulmar::mpi {

/// What a rank tells the others of its memory.
struct AdapterFacts {
  std::uint64_t base = 0;  ///< how orders name the first byte
  std::uint64_t key = 0;
  std::int64_t size = 0;
  std::uint32_t open = 0;   ///< 0: its memory is not open, and requests are used
  std::uint32_t agent = 0;  ///< AgentBits, see mpi/rma/agent.h
};

/// Who does the accumulate operations on elements of eight bytes; see mpi/rma/agent.h.
enum class AccumulateAgent : std::uint8_t { target, adapter };

/// That, and the reason, for people.
struct AgentChoice {
  AccumulateAgent agent = AccumulateAgent::target;
  const char* why = "";  ///< for people
};
class WordOperation;
/// Accumulate operations of a window by the adapter that have not ended, in the order of the calls.
struct WordOperations {
  std::vector<WordOperation*> all;
  std::vector<std::uint32_t> by_rank;  ///< how many
};

/// The adapter's side of a window in this process.
class WinAdapter {
 public:
  WinAdapter(Win& win, std::vector<AdapterFacts> facts);
  WinAdapter(const WinAdapter&) = delete;
  WinAdapter& operator=(const WinAdapter&) = delete;

  /// Whether the memory of a rank is read and written by the adapter.
  [[nodiscard]] bool reaches(int rank) const noexcept {
    return reached_[static_cast<std::size_t>(rank)];
  }
  /// How orders name a byte of a rank's memory, counted from its base.
  [[nodiscard]] fabric::RemoteAddress at(int rank, std::int64_t byte) const noexcept {
    const AdapterFacts& facts = facts_[static_cast<std::size_t>(rank)];
    return {facts.base + static_cast<std::uint64_t>(byte), facts.key};
  }
  [[nodiscard]] device::RemoteAccess& access() noexcept { return access_; }
  [[nodiscard]] const AgentChoice& choice() const noexcept { return choice_; }
  [[nodiscard]] AccumulateAgent agent() const noexcept { return choice_.agent; }
  [[nodiscard]] WordOperations& words() noexcept { return words_; }

 private:
  AgentChoice choice_;
  WordOperations words_;
  std::vector<AdapterFacts> facts_;
  std::vector<bool> reached_;
  device::RemoteAccess access_;
};

/// Whether the network of this process could reach the memory of some rank of the window. Its
/// targets are set.
[[nodiscard]] bool has_adapter_targets(const Win& win) noexcept;
/// Whether the network of this process could read and write the memory of this rank.
[[nodiscard]] bool is_reached_by_adapter(const Win& win, int rank) noexcept;
/// Opens the memory of this rank to the adapters of the others, and exchanges the keys. All ranks
/// call it, or none. Fails as the exchange does; memory that cannot be opened is reached by requests.
[[nodiscard]] base::Error open_to_adapters(Win& win);
/// No order for memory of the window is under way in any rank.
void close_to_adapters(Win& win) noexcept;
/// Waits until all orders of this process for memory of `rank` have ended.
void drain_adapter(Win& win, int rank) noexcept;

/// The elements at the target of an operation; `place` counts bytes from its base.
struct AdapterPlace {
  int rank;
  std::int64_t place;
  Count count;
  const Datatype* type;
};

/// Starts a put or a get of the first `bytes` bytes, which have been checked, as orders of the
/// adapter. Waits for the lock of the target if one was asked for. Sets `taken` to false, and starts
/// nothing, where requests are to be used: the adapter does not reach the memory, or the target's
/// elements lie in runs so short that one message is faster. `out`: where the MPI_Request goes; null:
/// none. Fails with the failure of the lock, or no_mem.
[[nodiscard]] base::Error put_by_adapter(Win& win, const ConstData& origin, std::int64_t bytes,
                                         const AdapterPlace& at, MPI_Request* out, bool& taken);
[[nodiscard]] base::Error get_by_adapter(Win& win, const Data& origin, std::int64_t bytes,
                                         const AdapterPlace& at, MPI_Request* out, bool& taken);

}  // namespace fulmar::mpi
