// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/io/file_check.h"

#include <algorithm>
#include <array>
#include <memory>
#include <new>

#include "mpi/coll/engine/scratch.h"
#include "mpi/errhandler/raise.h"
#include "mpi/io/collective/agreement.h"
#include "mpi/io/collective/collective.h"
#include "mpi/io/file_state.h"
#include "mpi/io/view/memory_side.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;

/// Neighbouring parts of a file of this length have their checksums at the same rank.
constexpr Count kept_together_bytes = 16 * check_block_bytes;
/// What a rank sends to another at most for one access. The rest of a larger one is not compared.
constexpr std::size_t most_pieces_sent = std::size_t{1} << 18;
constexpr std::size_t most_ranges_sent = std::size_t{1} << 16;

struct Range {
  std::int64_t first;
  std::int64_t end;
};

/// To each rank, ahead of the lists.
struct Announcement {
  std::int64_t pieces = 0;
  std::int64_t ranges = 0;
};

int keeper_of(Count offset, int ranks) noexcept {
  return static_cast<int>(offset / kept_together_bytes % ranks);
}

}  // namespace

/// What one access sends and gets.
class FileCheck::Exchange {
 public:
  Exchange(CollContext& exchange, CollectiveAccess& call, FileCheck& check)
      : exchange_(exchange),
        call_(call),
        check_(check),
        pieces_(static_cast<std::size_t>(exchange.size())),
        sent_(pieces_.size()),
        got_(pieces_.size()),
        got_pieces_(pieces_.size()),
        got_ranges_(pieces_.size()) {}

  void prepare();
  static CollTask send_lists(CollContext& exchange, Exchange& self);
  void find_fault();

 private:
  void cut_up(Count position, Count bytes, const MemorySide& memory);
  void add(Count offset, std::span<const std::byte> bytes);
  void add_ranges();
  [[nodiscard]] bool is_right(const Announcement& announcement) const noexcept {
    return announcement.pieces >= 0 && announcement.ranges >= 0 &&
           announcement.pieces <= static_cast<std::int64_t>(most_pieces_sent) &&
           announcement.ranges <= static_cast<std::int64_t>(most_ranges_sent);
  }
  [[nodiscard]] Data bytes(void* address, std::size_t count) const noexcept {
    return {address, static_cast<Count>(count), &exchange_.byte_type()};
  }
  [[nodiscard]] std::vector<RankPiece> all_pieces() const;
  void note(const KeptSums::Conflict& conflict);
  void note(const KeptSums::Mismatch& mismatch);

  CollContext& exchange_;
  CollectiveAccess& call_;
  FileCheck& check_;
  std::vector<std::vector<CheckedPiece>> pieces_;  ///< by the rank that keeps them
  std::vector<Range> ranges_;
  std::uint64_t last_forgotten_ = 0;  ///< of `ranges_`
  std::vector<Announcement> sent_;
  std::vector<Announcement> got_;
  std::vector<std::vector<CheckedPiece>> got_pieces_;
  std::vector<std::vector<Range>> got_ranges_;
};

/// Cuts one run of the file at the ends of blocks.
void FileCheck::Exchange::add(Count offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const Count room = check_block_bytes - offset % check_block_bytes;
    const auto count = std::min(static_cast<std::size_t>(room), bytes.size());
    auto& list = pieces_[static_cast<std::size_t>(keeper_of(offset, exchange_.size()))];
    if (list.size() < most_pieces_sent) {
      list.push_back(
          {offset, static_cast<std::int64_t>(count), file_checksum(offset, bytes.first(count))});
    } else if (call_.direction == Direction::write) {
      check_.forget_later(offset, offset + static_cast<Count>(count));
    }
    offset += static_cast<Count>(count);
    bytes = bytes.subspan(count);
  }
}

/// A part of the access that is packed at a time.
void FileCheck::Exchange::cut_up(Count position, Count bytes, const MemorySide& memory) {
  std::array<iovec, 256> segments;
  const MovedBytes moved = memory.to_send(position, bytes);
  if (moved.failed()) return;
  for (Count done = 0; done < bytes;) {
    const std::size_t found = call_.access.view->segments(position + done, bytes - done, segments);
    for (const iovec& segment : std::span(segments).first(found)) {
      add(offset_in(segment), {moved.data() + done, segment.iov_len});
      done += static_cast<Count>(segment.iov_len);
    }
  }
}

void FileCheck::Exchange::add_ranges() {
  last_forgotten_ = check_.forgotten_number_;
  for (const Forgotten& each : check_.forgotten_) ranges_.push_back({each.first, each.end});
  if (ranges_.size() <= most_ranges_sent) return;
  Range all = ranges_.front();
  for (const Range& each : ranges_) {
    all = {std::min(all.first, each.first), std::max(all.end, each.end)};
  }
  ranges_.assign(1, all);
}

void FileCheck::Exchange::prepare() {
  constexpr Count portion_bytes = 1 << 20;
  const Access& access = call_.access;
  const bool writes = call_.direction == Direction::write;
  const bool readable =
      call_.error.ok() && access.bytes > 0 && access.view->representation().as_in_memory();
  if (writes && !readable && access.bytes > 0 && access.view != nullptr) {
    // Of what was written as another representation, or in part, nothing is known.
    const FileView::Part part = access.part();
    check_.forget_later(part.first, part.end);
  }
  if (readable) {
    const MemorySide memory(access, false);
    const Count there = writes ? access.bytes : std::min(call_.moved, access.bytes);
    for (Count done = 0; done < there; done += portion_bytes) {
      cut_up(access.position + done, std::min(portion_bytes, there - done), memory);
    }
  }
  add_ranges();
  for (std::size_t rank = 0; rank < pieces_.size(); ++rank) {
    sent_[rank] = {static_cast<std::int64_t>(pieces_[rank].size()),
                   static_cast<std::int64_t>(ranges_.size())};
  }
}

CollTask FileCheck::Exchange::send_lists(CollContext& exchange, Exchange& self) {
  const int ranks = exchange.size();
  Transfers messages(exchange, 4 * ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    messages.receive(self.bytes(&self.got_[at], sizeof(Announcement)), rank);
    messages.send(as_const(self.bytes(&self.sent_[at], sizeof(Announcement))), rank);
  }
  co_await messages.wait();
  if (exchange.result().failed()) co_return;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto at = static_cast<std::size_t>(rank);
    if (!self.is_right(self.got_[at])) {
      end_job(*exchange.comm().library, "a collective file operation", exchange.comm(),
              base::failure(ErrorClass::intern, "rank %d announces %lld checksums", rank,
                            static_cast<long long>(self.got_[at].pieces)));
      co_return;
    }
    auto& pieces = self.got_pieces_[at];
    auto& ranges = self.got_ranges_[at];
    pieces.resize(static_cast<std::size_t>(self.got_[at].pieces));
    ranges.resize(static_cast<std::size_t>(self.got_[at].ranges));
    if (!pieces.empty()) {
      messages.receive(self.bytes(pieces.data(), pieces.size() * sizeof(CheckedPiece)), rank);
    }
    if (!ranges.empty()) {
      messages.receive(self.bytes(ranges.data(), ranges.size() * sizeof(Range)), rank);
    }
  }
  for (int rank = 0; rank < ranks; ++rank) {
    auto& pieces = self.pieces_[static_cast<std::size_t>(rank)];
    if (!pieces.empty()) {
      messages.send(as_const(self.bytes(pieces.data(), pieces.size() * sizeof(CheckedPiece))),
                    rank);
    }
    if (!self.ranges_.empty()) {
      messages.send(as_const(self.bytes(self.ranges_.data(), self.ranges_.size() * sizeof(Range))),
                    rank);
    }
  }
  co_await messages.wait();
}

/// Data from other ranks are not trusted: invalid pieces are ignored.
std::vector<RankPiece> FileCheck::Exchange::all_pieces() const {
  std::vector<RankPiece> all;
  for (std::size_t rank = 0; rank < got_pieces_.size(); ++rank) {
    for (const CheckedPiece& piece : got_pieces_[rank]) {
      const bool is_here =
          piece.is_valid() && keeper_of(piece.offset, exchange_.size()) == exchange_.rank();
      if (is_here) all.push_back({piece, static_cast<int>(rank)});
    }
  }
  return all;
}

void FileCheck::Exchange::note(const KeptSums::Conflict& conflict) {
  call_.error = base::failure(
      ErrorClass::io,
      "file \"%s\": ranks %d and %d write bytes %lld to %lld in one collective call, collective "
      "write number %llu, without atomic mode: which data are in the file is not defined; let one "
      "of them write there, or call MPI_File_set_atomicity (FULMAR_CHECK=files)",
      call_.file->open->file.path().c_str(), conflict.ranks[0], conflict.ranks[1],
      static_cast<long long>(conflict.first), static_cast<long long>(conflict.end - 1),
      static_cast<unsigned long long>(check_.writes_));
}

void FileCheck::Exchange::note(const KeptSums::Mismatch& mismatch) {
  call_.error = base::failure(
      ErrorClass::io,
      "file \"%s\": bytes %lld to %lld, as rank %d reads them, are not those that rank %d wrote in "
      "collective write number %llu: they were lost on the way, or a writer outside of this file "
      "handle has changed them; run alone, and on another file system (FULMAR_CHECK=files)",
      call_.file->open->file.path().c_str(), static_cast<long long>(mismatch.first),
      static_cast<long long>(mismatch.end - 1), mismatch.reader, mismatch.writer,
      static_cast<unsigned long long>(mismatch.call));
}

void FileCheck::Exchange::find_fault() {
  for (const auto& ranges : got_ranges_) {
    for (const Range& range : ranges) check_.kept_.forget(range.first, range.end);
  }
  std::vector<RankPiece> pieces = all_pieces();
  if (call_.direction == Direction::write) {
    const auto conflict = check_.kept_.put(pieces, check_.writes_);
    if (conflict && !call_.access.atomic && call_.error.ok()) note(*conflict);
  } else {
    std::uint64_t compared = 0;
    const auto mismatch = check_.kept_.compare(pieces, compared);
    io::FileStats::add(exchange_.comm().library->files->log().figures.checked_bytes, compared);
    if (mismatch && call_.error.ok()) note(*mismatch);
  }
  std::erase_if(check_.forgotten_,
                [this](const Forgotten& each) { return each.number <= last_forgotten_; });
}

void FileCheck::forget_later(Count first, Count end) {
  if (!forgotten_.empty() && forgotten_.back().end >= first && forgotten_.back().first <= end) {
    forgotten_.back() = {std::min<std::int64_t>(forgotten_.back().first, first),
                         std::max<std::int64_t>(forgotten_.back().end, end), ++forgotten_number_};
    return;
  }
  forgotten_.push_back({first, end, ++forgotten_number_});
}

CollTask FileCheck::run(CollContext& exchange, CollectiveAccess& call) {
  FileCheck& check = *call.file->open->check;
  if (call.direction == Direction::write) ++check.writes_;
  Exchange lists(exchange, call, check);
  lists.prepare();
  co_await Exchange::send_lists(exchange, lists);
  if (exchange.result().failed()) co_return;
  const Error before = call.error;
  lists.find_fault();
  // An error of a read that was not exchanged is that rank's own, and stays so.
  Error found = before.ok() ? call.error : Error();
  co_await agree_within(exchange, found);
  if (call.error.ok()) call.error = found;
}

}  // namespace fulmar::mpi
