// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace fulmar::mpi {

/// Error classes and codes that the user added (MPI 5.0 section 9.5). They are numbered upwards
/// from MPI_ERR_LASTCODE + 1. A removed number is used again only when `most_resting` others were
/// removed after it, so that a stale code is noticed and memory stays bounded all the same.
/// MPI_LASTUSEDCODE never goes back: other codes than the last may be in use. Guarded by the lock
/// of the library.
class ErrorCodes {
 public:
  static constexpr int first_user_code = MPI_ERR_LASTCODE + 1;

  /// How many removed numbers rest before the first of them is used again.
  static constexpr int most_resting = 1024;

  base::Result<int> add_class();
  /// A new code of a predefined or user's class; MPI_ERR_ARG where there is no such class.
  base::Result<int> add_code(int error_class);
  /// Sets the text of a user's class or code, at most MPI_MAX_ERROR_STRING - 1 bytes.
  base::Error set_text(int code, std::string_view text);
  /// MPI_ERR_ARG where it is not a user's class (code), or its codes or its text are still there,
  /// or there is no text to remove.
  base::Error remove_class(int error_class);
  base::Error remove_code(int code);
  base::Error remove_text(int code);

  /// The class of any code that exists, MPI_ERR_ARG for others.
  [[nodiscard]] base::Result<int> class_of(int code) const;
  /// The text of any code that exists, MPI_ERR_ARG for others. Empty for a user's code without a
  /// text.
  [[nodiscard]] base::Result<std::string> text_of(int code) const;

  /// The value of the attribute MPI_LASTUSEDCODE; at a fixed address.
  [[nodiscard]] const int& last_used_code() const noexcept { return last_used_code_; }

 private:
  struct Entry {
    int error_class = 0;
    bool alive = false;
    int codes = 0;  // alive codes of this class, itself not counted
    std::string text;
    int next_resting = 0;  // the number that was removed after this one
  };

  [[nodiscard]] bool exists(int code) const noexcept;
  [[nodiscard]] Entry& entry(int code) noexcept { return entries_[index(code)]; }
  [[nodiscard]] const Entry& entry(int code) const noexcept { return entries_[index(code)]; }
  static std::size_t index(int code) noexcept {
    return static_cast<std::size_t>(code - first_user_code);
  }
  /// A number that may be used, new or rested.
  base::Result<int> take_number();
  void rest(int code) noexcept;

  std::vector<Entry> entries_;
  int last_used_code_ = MPI_ERR_LASTCODE;
  int first_resting_ = 0;  // a queue through the entries
  int last_resting_ = 0;
  int resting_ = 0;
};

}  // namespace fulmar::mpi
