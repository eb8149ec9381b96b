// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <sys/uio.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/error.h"
#include "fabric/network.h"
#include "study/pieces.h"
#include "wire/study/pipe.h"

/// How the bytes of a long packet move between the programs' own buffers, in the zero-copy design.
namespace fulmar::study {

/// Memory that is open, until it is given back.
struct Loan {
  fabric::MemoryRegion opened;
  void* owner = nullptr;  ///< the lender's
};

/// Opens memory for a channel, perhaps keeping it open in between. Thread rule: the engine's lock.
class Lender {
 public:
  Lender() = default;
  Lender(const Lender&) = delete;
  Lender& operator=(const Lender&) = delete;
  virtual ~Lender() = default;
  /// As open_memory of fabric::Network.
  [[nodiscard]] virtual base::Result<Loan> take(std::span<std::byte> memory,
                                                fabric::Access access) = 0;
  virtual void give_back(const Loan& loan) = 0;
};

/// Opens and closes each time.
template <std::derived_from<fabric::Network> P>
class PlainLender final : public Lender {
 public:
  explicit PlainLender(P& provider) noexcept : provider_(provider) {}
  [[nodiscard]] base::Result<Loan> take(std::span<std::byte> memory,
                                        fabric::Access access) override {
    const auto opened = provider_.open_memory(memory, access);
    if (opened.failed()) return opened.error();
    return Loan{opened.value(), nullptr};
  }
  void give_back(const Loan& loan) override { provider_.close_memory(loan.opened); }

 private:
  P& provider_;
};

/// Memory that peers may access, and its registrations.
struct Lent {
  std::vector<wire::PipePiece> pieces;
  std::vector<Loan> loans;
};

/// One direction of one pair of processes, one stretch of bytes after the other.
///
/// * `reach(peer)`: whether bytes can move so at all.
/// * `lend(memory, access, lent)` prepares local memory for the peer: what to send it is in
///   lent.pieces. False: it cannot reach that. `give_back(lent)` ends it.
/// * `fetch(peer, here, there, offset, bytes)` begins to read bytes [offset, offset + bytes) of
///   what the pieces `there` describe into `here`, whose first byte is the first of them; `put`
///   begins to write them. `step()` goes on; true if something moved.
/// * `posted()`: what is written to a pipe from now on arrives behind the bytes of a `put`.
/// * `under_way()`: memory here is still in use. `failed()`: since the last beginning, not all
///   bytes have moved.
/// * `most_bytes`: of one stretch, so that others are not kept waiting.
template <class T>
concept Transit = requires(T& transit, const T& view, std::uint32_t peer,
                           std::span<const iovec> here, std::span<const wire::PipePiece> there,
                           std::uint64_t bytes, fabric::Access access, Lent& lent) {
  { transit.reach(peer) } -> std::same_as<bool>;
  { transit.lend(here, access, lent) } -> std::same_as<bool>;
  transit.give_back(lent);
  transit.fetch(peer, here, there, bytes, bytes);
  transit.put(peer, here, there, bytes, bytes);
  { transit.step() } -> std::same_as<bool>;
  { view.posted() } -> std::same_as<bool>;
  { view.under_way() } -> std::same_as<bool>;
  { view.failed() } -> std::same_as<bool>;
  { T::most_bytes } -> std::convertible_to<std::uint64_t>;
};

/// Calls f(here, address, key, bytes) for the runs of memory at the peer that make bytes [offset,
/// offset + bytes) of `there`; `here` are the parts of the own memory that belong to each.
template <class F>
void for_runs(std::span<const iovec> here, std::span<const wire::PipePiece> there,
              std::uint64_t offset, std::uint64_t bytes, F&& f) {
  std::uint64_t moved = 0;
  std::vector<iovec> local;
  for (const wire::PipePiece& piece : there) {
    if (bytes == 0) return;
    if (offset >= piece.bytes) {
      offset -= piece.bytes;
      continue;
    }
    const std::uint64_t count = std::min(piece.bytes - offset, bytes);
    local.clear();
    for_parts(here, moved, count, [&](const iovec& part) { local.push_back(part); });
    f(std::span<const iovec>(local), piece.address + offset, piece.key, count);
    moved += count;
    bytes -= count;
    offset = 0;
  }
}

/// Through the kernel, from address space to address space (fabric::ReachesMemory): at once.
template <class P>
class MappedTransit {
 public:
  static constexpr std::uint64_t most_bytes = 1U << 20;

  explicit MappedTransit(P& provider) noexcept : provider_(provider) {}

  [[nodiscard]] bool reach(std::uint32_t peer) noexcept { return provider_.reach(peer); }
  [[nodiscard]] bool lend(std::span<const iovec> memory, fabric::Access /*access*/, Lent& lent) {
    lent.pieces.clear();
    for (const iovec& piece : memory) {
      lent.pieces.push_back({reinterpret_cast<std::uintptr_t>(piece.iov_base), piece.iov_len, 0});
    }
    return true;
  }
  void give_back(Lent& lent) noexcept { lent.pieces.clear(); }
  void fetch(std::uint32_t peer, std::span<const iovec> here,
             std::span<const wire::PipePiece> there, std::uint64_t offset, std::uint64_t bytes) {
    move(here, there, offset, bytes,
         [&](std::span<const iovec> local, std::uint64_t address, std::uint64_t count) {
           return provider_.read(peer, local, address, count);
         });
  }
  void put(std::uint32_t peer, std::span<const iovec> here, std::span<const wire::PipePiece> there,
           std::uint64_t offset, std::uint64_t bytes) {
    move(here, there, offset, bytes,
         [&](std::span<const iovec> local, std::uint64_t address, std::uint64_t count) {
           return provider_.write(peer, local, address, count);
         });
  }
  [[nodiscard]] bool step() noexcept { return false; }
  [[nodiscard]] bool posted() const noexcept { return true; }
  [[nodiscard]] bool under_way() const noexcept { return false; }
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  template <class Move>
  void move(std::span<const iovec> here, std::span<const wire::PipePiece> there,
            std::uint64_t offset, std::uint64_t bytes, Move&& move) {
    failed_ = false;
    for_runs(here, there, offset, bytes,
             [&](std::span<const iovec> local, std::uint64_t address, std::uint64_t /*key*/,
                 std::uint64_t count) {
               if (!failed_) failed_ = move(local, address, count).failed();
             });
  }

  P& provider_;
  bool failed_ = false;
};

/// By the adapter, which needs both sides' memory opened: orders are given
/// as there is room for them, and end later.
///
/// To open memory costs as much as to copy some 100 KiB, so pieces of a few bytes are not worth it:
/// they are not lent, and the packet goes through the ring.
template <std::derived_from<fabric::Network> P>
class RemoteTransit {
 public:
  static constexpr std::uint64_t most_bytes = 64U << 20;
  static constexpr std::size_t least_piece_bytes = 1024;

  /// `token`: of the orders (fabric::channel_token). `lender` may change until the first use.
  RemoteTransit(P& provider, Lender*& lender, std::uint64_t token) noexcept
      : provider_(provider), lender_(lender), token_(token) {}
  RemoteTransit(const RemoteTransit&) = delete;
  RemoteTransit& operator=(const RemoteTransit&) = delete;

  [[nodiscard]] bool reach(std::uint32_t peer) const noexcept { return provider_.alive(peer); }
  [[nodiscard]] bool lend(std::span<const iovec> memory, fabric::Access access, Lent& lent) {
    give_back(lent);
    std::uint64_t bytes = 0;
    for (const iovec& piece : memory) bytes += piece.iov_len;
    if (memory.size() > 1 && bytes < memory.size() * least_piece_bytes) return false;
    for (const iovec& piece : memory) {
      const auto loan =
          lender_->take({static_cast<std::byte*>(piece.iov_base), piece.iov_len}, access);
      if (loan.failed()) {
        give_back(lent);
        return false;
      }
      lent.loans.push_back(loan.value());
      const fabric::MemoryRegion& opened = loan.value().opened;
      lent.pieces.push_back({opened.name_of(piece.iov_base), piece.iov_len, opened.rkey});
    }
    return true;
  }
  void give_back(Lent& lent) {
    for (const Loan& loan : lent.loans) lender_->give_back(loan);
    lent.loans.clear();
    lent.pieces.clear();
  }
  void fetch(std::uint32_t peer, std::span<const iovec> here,
             std::span<const wire::PipePiece> there, std::uint64_t offset, std::uint64_t bytes) {
    begin(peer, Way::fetch, here, there, offset, bytes);
  }
  void put(std::uint32_t peer, std::span<const iovec> here, std::span<const wire::PipePiece> there,
           std::uint64_t offset, std::uint64_t bytes) {
    begin(peer, Way::put, here, there, offset, bytes);
  }
  [[nodiscard]] bool step() {
    bool moved = false;
    while (!posted()) {
      const Run& run = runs_[next_];
      const fabric::Post post =
          way_ == Way::fetch ? provider_.rdma_read(peer_, run.here, run.lkey, run.place, token_)
                             : provider_.rdma_write(peer_, run.here, run.lkey, run.place, token_);
      if (post == fabric::Post::again) break;
      ++next_;
      ++orders_;
      moved = true;
    }
    return moved;
  }
  /// An order has ended.
  void ended(fabric::Sent how) {
    --orders_;
    if (how == fabric::Sent::lost) failed_ = true;
    if (!under_way()) give_back(own_);
  }
  [[nodiscard]] bool posted() const noexcept { return failed_ || next_ == runs_.size(); }
  [[nodiscard]] bool under_way() const noexcept { return orders_ != 0 || !posted(); }
  [[nodiscard]] bool failed() const noexcept { return failed_; }

 private:
  enum class Way : std::uint8_t { fetch, put };
  struct Run {
    std::span<std::byte> here;
    std::uint32_t lkey = 0;
    fabric::RemoteAddress place;
  };

  /// The own memory of earlier stretches may still be in use.
  void begin(std::uint32_t peer, Way way, std::span<const iovec> here,
             std::span<const wire::PipePiece> there, std::uint64_t offset, std::uint64_t bytes) {
    peer_ = peer;
    way_ = way;
    if (orders_ == 0) failed_ = false;
    runs_.clear();
    next_ = 0;
    const fabric::Access access =
        way == Way::fetch ? fabric::Access::local : fabric::Access::peers_read;
    Lent more;
    if (failed_ || !lend(here, access, more)) {
      failed_ = true;
      return;
    }
    for_runs(here, there, offset, bytes,
             [&](std::span<const iovec> local, std::uint64_t address, std::uint64_t key,
                 std::uint64_t /*count*/) { add_runs(local, {address, key}, here, more); });
    own_.loans.insert(own_.loans.end(), more.loans.begin(), more.loans.end());
    (void)step();
  }
  /// One order for each part, and as many as its length takes.
  void add_runs(std::span<const iovec> local, fabric::RemoteAddress place,
                std::span<const iovec> here, const Lent& lent) {
    for (const iovec& part : local) {
      auto* at = static_cast<std::byte*>(part.iov_base);
      std::size_t left = part.iov_len;
      const std::uint32_t lkey = key_of(at, here, lent);
      while (left != 0) {
        const std::size_t count = std::min<std::size_t>(left, P::max_remote_bytes);
        runs_.push_back({{at, count}, lkey, place});
        at += count;
        place.address += count;
        left -= count;
      }
    }
  }
  [[nodiscard]] static std::uint32_t key_of(const std::byte* at, std::span<const iovec> here,
                                            const Lent& lent) noexcept {
    for (std::size_t i = 0; i < here.size(); ++i) {
      const auto* const begin = static_cast<const std::byte*>(here[i].iov_base);
      if (at >= begin && at < begin + here[i].iov_len) return lent.loans[i].opened.lkey;
    }
    return 0;
  }

  P& provider_;
  Lender*& lender_;
  std::uint64_t token_;
  std::uint32_t peer_ = 0;
  Way way_ = Way::fetch;
  std::vector<Run> runs_;
  std::size_t next_ = 0;
  std::uint32_t orders_ = 0;  ///< that have not ended
  bool failed_ = false;
  Lent own_;  ///< memory here, as long as orders use some of it
};

}  // namespace fulmar::study
