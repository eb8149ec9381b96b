// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace fulmar::mpiexec {

/// The first bytes of a file that the kernel does not execute (ENOEXEC). A shell runs those that
/// are scripts without a first line that names the interpreter; it must not get anything else, for
/// it would take a program's code for commands.
class FileHead {
 public:
  /// Only by system calls, so that it can be called between fork and exec. A file that cannot be
  /// read gives an empty head.
  void read_from(const char* file);
  void set(std::string_view bytes);

  /// Whether it may be a script for sh.
  [[nodiscard]] bool is_script() const;
  /// What such a file is, if it is no script, and what to do: "an ELF file for aarch64, which...".
  [[nodiscard]] std::string why_refused() const;

 private:
  [[nodiscard]] std::string_view bytes() const { return {bytes_.data(), size_}; }
  [[nodiscard]] bool is_elf() const;

  std::array<char, 128> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace fulmar::mpiexec
