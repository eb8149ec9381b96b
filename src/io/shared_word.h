// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"

namespace fulmar::io {

/// A 64-bit number in memory that processes of one node share: the shared pointer of a file. It
/// is in an anonymous memory file, which others open through /proc while its maker has it open;
/// no name is made anywhere.
///
/// Thread rule: `word` from any thread of any process.
class SharedWord {
 public:
  /// What another process needs to find it.
  struct Place {
    std::int32_t process = 0;  ///< as the kernel numbers it
    std::int32_t descriptor = -1;
    std::uint64_t token = 0;  ///< stored beside the number: identifies the right file
  };

  SharedWord() noexcept = default;
  ~SharedWord();
  SharedWord(SharedWord&& other) noexcept;
  SharedWord& operator=(SharedWord&& other) noexcept;

  /// Fails (other) where the system gives no memory file.
  [[nodiscard]] static base::Result<SharedWord> make();
  /// Fails (other) where the file cannot be opened or is not the one that was meant: processes in
  /// other containers, or without the permission to access each other.
  [[nodiscard]] static base::Result<SharedWord> open(const Place& place);

  [[nodiscard]] bool is_open() const noexcept { return content_ != nullptr; }
  [[nodiscard]] const Place& place() const noexcept { return place_; }
  [[nodiscard]] std::atomic<std::int64_t>& word() const noexcept { return content_->word; }

 private:
  struct Content {
    std::uint64_t token;
    std::atomic<std::int64_t> word;
  };
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);

  SharedWord(base::UniqueFd descriptor, Content* content) noexcept
      : descriptor_(std::move(descriptor)), content_(content) {}
  [[nodiscard]] static base::Result<SharedWord> map(base::UniqueFd descriptor);

  base::UniqueFd descriptor_;
  Content* content_ = nullptr;
  Place place_;
};

/// Numbers that are not in use any more, for the files that are opened next: to make or to open one
/// takes some 10 us. All processes of a file keep its number when it is closed, so they have the
/// same ones.
class SpareWords {
 public:
  static constexpr std::size_t most = 8;

  /// Ends the oldest where there are too many.
  void keep(SharedWord&& word);
  /// One that this process has made, set to 0; not open if there is none.
  [[nodiscard]] SharedWord take_own();
  /// The one at that place; not open if it is not there.
  [[nodiscard]] SharedWord take(const SharedWord::Place& place);

 private:
  template <class Fits>
  [[nodiscard]] SharedWord take_if(const Fits& fits);
  std::vector<SharedWord> words_;
};

}  // namespace fulmar::io
