// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Short runs through mapped memory -------------------------------- Two ranks that write 1 MiB each
// in runs of 1 KiB in turns take 1.9 ms with a call for each run (tmpfs; 8 ms on ext4), and 0.6 ms
// through memory when its pages are touched for the first time, 0.15 ms later. With runs of 64
// bytes it is 20 ms against 0.7. From 4 KiB on calls are faster than pages that are new, and slower
// than those that are not: then only parts of the file go through memory that were accessed before.
// So do all reads. Where the file system makes 2 MiB of a new file at once (ext4 of Linux 6.16: 0.2 ms in place of 1.9),
// memory is ahead up to 32 KiB.
//
// In a file system without a device (tmpfs) nothing is ever written back, so pages stay usable, while a call looks up each
// page of 4 KiB and waits for other writers of the file. There runs of up to 4 MiB go through memory from the second access on,
// single ones, too: two ranks in blocks of 64 KiB in turns take 242 us in place of 625 to write 1 MiB each, 193 in place of 265
// to read it; the second time, when the pages are made usable, 297 and 205.
//
// The pages of a window of the file are made usable at once, windows grow while the data are near
// each other, so that pages of large gaps are not touched.
#include "mpi/io/access/mapped_access.h"

#include <algorithm>

namespace fulmar::mpi {
namespace {

using io::MappedParts;

/// Runs from this length on are moved by calls.
constexpr Count long_run_bytes = 32 << 10;
/// The same in a file system without a device, where calls look up each page of 4 KiB.
constexpr Count long_run_bytes_in_memory = 4 << 20;
/// A single run there, part of a longer one: one call takes less below.
constexpr Count least_bytes_of_one_run = 64 << 10;
/// Runs from this length on are so where the file was not accessed before.
constexpr Count long_new_run_bytes = 4096;
/// The same on a device, where ranks that write one file by calls wait for each other's.
constexpr Count long_new_run_bytes_of_device = 8192;
/// Two pages for each run at most; or four bytes for each byte.
constexpr Count farthest_run_bytes = 8192;
constexpr Count most_bytes_for_one = 4;
constexpr Count least_window_bytes = 64 << 10;
constexpr Count least_bytes = 1024;
/// Below, ranks of a file all begin with the first byte.
constexpr Count least_turned_bytes = 64 << 10;

/// Whether the gaps between runs are not much longer than these.
bool are_near(Count mean_run_bytes, Count bytes, Count span) noexcept {
  if (mean_run_bytes >= bytes) return false;
  const Count runs = bytes / std::max<Count>(mean_run_bytes, 1);
  return span <= std::max(farthest_run_bytes * runs, most_bytes_for_one * bytes);
}

/// Moves windows of [position, position + bytes) of the stream until one cannot be mapped.
template <class Move>
Count move_windows(const Access& access, Count position, Count bytes, MappedParts::Purpose purpose,
                   const Move& move) {
  const FileView& view = *access.view;
  const Count end = position + bytes;
  Count at = position;
  Count window_bytes = least_window_bytes;
  Count next = view.offset_of(at);
  while (at < end) {
    const Count first = next;
    const Count chunk_end = (first / MappedParts::chunk_bytes + 1) * MappedParts::chunk_bytes;
    const Count window_end = std::min(first + window_bytes, chunk_end);
    const Count to = std::min(view.position_at(window_end), end);
    const Count last = view.offset_of(to - 1) + 1;
    const auto held = access.file->mapped(first, last, purpose);
    if (!held.ok()) break;
    const bool writes = purpose == MappedParts::Purpose::writing;
    io::SystemCall record = access.file->begin(writes ? "mapped write" : "mapped read", first,
                                               static_cast<std::size_t>(to - at));
    move(held.address_of_zero(), at, to - at);
    record.moved_in_memory(writes ? &io::FileStats::bytes_written : &io::FileStats::bytes_read,
                           to - at, last - first);
    at = to;
    if (at == end) break;
    next = view.offset_of(at);
    window_bytes = next - last < least_window_bytes
                       ? std::min(2 * window_bytes, MappedParts::chunk_bytes)
                       : least_window_bytes;
  }
  return at - position;
}

/// What other ranks' runs leave of a block at its ends, at most.
constexpr Count slack = 64 << 10;
constexpr Count block = MappedParts::block_bytes;

/// Whether the access fills a block that may become one page, but for the slack.
bool fills_a_block(const Access& access) {
  const FileView::Part whole = access.part();
  const Count first = (std::max<Count>(whole.first - slack, 0) + block - 1) / block * block;
  return access.large_pages && first + block <= whole.end + slack;
}

/// Runs from this length on are moved by calls where the file was not accessed before.
Count long_new_run(const Access& access) {
  if (access.in_memory) return long_new_run_bytes;
  return fills_a_block(access) ? long_run_bytes : long_new_run_bytes_of_device;
}

bool is_worth_mapping(const Access& access, Count position, Count bytes,
                      MappedParts::Purpose purpose) {
  if (!access.maps || access.view->contiguous()) return false;
  if (!access.view->forward(position, bytes)) return false;
  if (bytes < least_bytes) return false;
  const FileView::Part part = access.view->part_of(position, bytes);
  const Count run = access.view->mean_run_bytes();
  if (run >= (access.in_memory ? long_run_bytes_in_memory : long_run_bytes)) return false;
  const bool is_long_enough_alone = access.in_memory && bytes >= least_bytes_of_one_run;
  if (!are_near(run, bytes, part.end - part.first) && !(run >= bytes && is_long_enough_alone)) {
    return false;
  }
  // Reads have sieving, which takes as long as pages that are new.
  const bool may_be_new = purpose == MappedParts::Purpose::writing && run < long_new_run(access);
  return access.file->seen_before(part.first, part.end) || may_be_new;
}

/// Whether this byte lies in a block that can become one page once a rank that writes behind it has made the file longer: small
/// pages that are made before stay small.
bool waits_for_a_block(const Access& access, Count offset) {
  const Count block_end = (offset / block + 1) * block;
  if (!fills_a_block(access) || block_end > access.part().end + slack) return false;
  constexpr Count page = 4096;
  const base::Result<std::int64_t> size = access.file->size();
  return size.ok() && (size.value() + page - 1) / page * page < block_end;
}

/// Where a rank begins, from 0 on: another place for each, as ranks that make the same new pages usable at
/// the same time wait for each other (two ranks, 1 MiB each in runs of 1 KiB: 2.0 ms against 0.9 on tmpfs, 2.2
/// against 1.4 on ext4).
Count first_of_rank(const Access& access, Count position, Count bytes) {
  if (bytes < least_turned_bytes) return 0;
  const Count first = bytes / access.ranks * access.rank;
  return waits_for_a_block(access, access.view->offset_of(position + first)) ? 0 : first;
}

/// Memory makes no file longer. A write puts its last byte there; where pages may be large (MappedParts) a long one reserves
/// space for all of it, as that byte would make a small page.
bool reach_end(const Access& access, Count end, std::span<const std::byte> from) {
  const base::Result<std::int64_t> size = access.file->size();
  if (size.failed()) return false;
  const FileView::Part whole = access.part();
  const bool is_long =
      access.large_pages && whole.end - whole.first >= MappedParts::block_bytes / 2;
  if (is_long) access.file->expect_write(whole.first, whole.end);
  if (size.value() >= end) return true;
  if (is_long && access.file->reserve(whole.first, whole.end)) return true;
  return access.file->write(end - 1, from.last(1)).ok();
}

}  // namespace

bool are_short_and_near(Count mean_run_bytes, Count bytes, Count span) noexcept {
  return mean_run_bytes < long_run_bytes && are_near(mean_run_bytes, bytes, span);
}

Count write_mapped(const Access& access, Count position, std::span<const std::byte> from) {
  const auto bytes = static_cast<Count>(from.size());
  if (!is_worth_mapping(access, position, bytes, MappedParts::Purpose::writing)) return 0;
  if (!reach_end(access, access.view->part_of(position, bytes).end, from)) return 0;
  const auto move = [&](Count first, Count end) {
    return move_windows(access, position + first, end - first, MappedParts::Purpose::writing,
                        [&](std::uintptr_t zero, Count at, Count some) {
                          access.view->scatter(zero, at,
                                               from.subspan(static_cast<std::size_t>(at - position),
                                                            static_cast<std::size_t>(some)));
                        });
  };
  const Count middle = first_of_rank(access, position, bytes);
  // Where part of the rest cannot be copied, calls write everything once more.
  if (middle > 0 && move(middle, bytes) < bytes - middle) return 0;
  const Count end = middle > 0 ? middle : bytes;
  const Count done = move(0, end);
  return done == end ? bytes : done;
}

Count read_mapped(const Access& access, Count position, std::span<std::byte> to) {
  const auto bytes = static_cast<Count>(to.size());
  if (!is_worth_mapping(access, position, bytes, MappedParts::Purpose::reading)) return 0;
  const base::Result<std::int64_t> size = access.file->size();
  if (size.failed()) return 0;
  const Count there = std::min(access.view->position_at(size.value()) - position, bytes);
  if (there <= 0) return 0;
  return move_windows(access, position, there, MappedParts::Purpose::reading,
                      [&](std::uintptr_t zero, Count at, Count some) {
                        access.view->gather(zero, at,
                                            to.subspan(static_cast<std::size_t>(at - position),
                                                       static_cast<std::size_t>(some)));
                      });
}

}  // namespace fulmar::mpi
