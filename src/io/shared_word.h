// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstdint>

#include "base/error.h"
#include "base/os/fd.h"

namespace fulmar::io {

/// A 64-bit number in memory that processes of one node share: the shared pointer of a file. It
/// lies in an anonymous memory file, which others open through /proc while its maker has it open;
/// no name is made anywhere.
///
/// Thread rule: `word` from any thread of any process.
class SharedWord {
 public:
  /// What another process needs to find it.
  struct Place {
    std::int32_t process = 0;  ///< as the kernel numbers it
    std::int32_t descriptor = -1;
    std::uint64_t token = 0;  ///< stands beside the number: what was opened is the right file
  };

  SharedWord() noexcept = default;
  ~SharedWord();
  SharedWord(SharedWord&& other) noexcept;
  SharedWord& operator=(SharedWord&& other) noexcept;

  /// Fails (other) where the system gives no memory file.
  [[nodiscard]] static base::Result<SharedWord> make();
  /// Fails (other) where the file cannot be opened or is not the one that was meant: processes in
  /// other containers, or without the right to look at each other.
  [[nodiscard]] static base::Result<SharedWord> open(const Place& place);

  [[nodiscard]] bool is_open() const noexcept { return content_ != nullptr; }
  [[nodiscard]] Place place() const noexcept;
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
};

}  // namespace fulmar::io
