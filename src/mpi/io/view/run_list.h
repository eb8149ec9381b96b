// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mpi/io/collective/window_job.h"
#include "mpi/io/view/file_view.h"

namespace fulmar::mpi {

/// `count` pieces of `length` bytes, `stride` apart, in a file.
struct FileRun {
  std::int64_t offset;
  std::int64_t length;
  std::int64_t stride;
  std::int64_t count;
};

/// The runs of a view in a window of a file, as they go in messages: words of 32 bits, relative to the
/// beginning of the window. A single piece takes two words, a row of pieces four. As pieces have gaps
/// between them, a window of n bytes has a list of little more than n words, whatever the view is; more
/// is not accepted from another rank (`most_words`).
class RunList {
 public:
  using Word = std::uint32_t;
  /// Windows have at most this length, so that bit 31 of an offset is free.
  static constexpr Count longest_window = Count{1} << 30;

  RunList() = default;
  /// [position, position + bytes) of a view's stream, which lie in the window.
  RunList(const FileView& view, Count position, Count bytes, Extent window);
  /// Words that came in a message.
  explicit RunList(std::vector<Word>&& words) noexcept : words_(std::move(words)) {}

  [[nodiscard]] std::span<const Word> words() const noexcept { return words_; }
  [[nodiscard]] bool empty() const noexcept { return words_.empty(); }

  /// How many words an honest list of this many bytes has in a window at most.
  [[nodiscard]] static Count most_words(Extent window, Count bytes) noexcept;
  /// Whether the runs lie in a window, one behind the other, and have this many bytes together.
  [[nodiscard]] bool is_valid(Extent window, Count bytes) const noexcept;
  /// The one run, where there is just one and its pieces have no gaps; null otherwise. Requires
  /// `is_valid`.
  [[nodiscard]] bool is_one_piece() const noexcept;
  /// Where the first piece begins. Requires at least one.
  [[nodiscard]] Count first(Extent window) const noexcept {
    return window.first + static_cast<Count>(words_.front() & ~row_bit);
  }

  /// Calls visit(const FileRun&) for each run, until it returns false. Requires `is_valid`.
  template <class Visit>
  void for_each(Extent window, const Visit& visit) const {
    FileRun run{};
    for (std::size_t at = 0; at < words_.size();) {
      if (!read(window, at, run) || !visit(run)) return;
    }
  }

 private:
  static constexpr Word row_bit = Word{1} << 31;

  /// The run at word `at`, which moves behind it; false where it is cut off.
  [[nodiscard]] bool read(Extent window, std::size_t& at, FileRun& run) const noexcept;
  void add(const FileRun& run, Extent window);

  std::vector<Word> words_;
};

}  // namespace fulmar::mpi
