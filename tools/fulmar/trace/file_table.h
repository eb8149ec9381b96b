// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/trace_file.h"

/// File operations of traces: what each rank asked for, what it cost, and where in the files it went.
namespace fulmar::trace {

/// The accesses of one rank to one file by calls of one name, together.
struct FileRow {
  std::string path;
  std::uint32_t rank = 0;
  std::string call;
  std::uint64_t count = 0;
  std::uint64_t exchanged = 0;  ///< of these, those whose data were exchanged between ranks
  std::uint64_t bytes = 0;
  std::int64_t first = 0;  ///< of all of them
  std::int64_t end = 0;
  std::uint64_t total_ns = 0;
  /// System calls that this rank made while such a call was under way, for itself and for others.
  std::uint64_t system_calls = 0;
  std::uint64_t moved = 0;    ///< bytes of these
  std::uint64_t disk_ns = 0;  ///< in these

  /// What is left: the exchange with other ranks, waiting for them, packing and copying.
  [[nodiscard]] std::uint64_t exchange_ns() const noexcept {
    return total_ns > disk_ns ? total_ns - disk_ns : 0;
  }
};

/// By path, rank and the order in which the calls were first made. System calls outside of all
/// accesses have rows of their own names.
[[nodiscard]] std::vector<FileRow> file_rows(const std::vector<wire::TraceFile>& traces);

/// The rows as lines of text; empty without any.
[[nodiscard]] std::string file_text(const std::vector<FileRow>& rows);
/// The rows as an HTML table, and for each file a map: which rank has read and written which part.
/// Empty without any file.
[[nodiscard]] std::string file_html(const std::vector<wire::TraceFile>& traces);

}  // namespace fulmar::trace
