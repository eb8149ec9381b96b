// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/error.h"
#include "base/trace.h"
#include "io/file_trace.h"
#include "runtime/options/options.h"
#include "wire/trace_file.h"

namespace fulmar::runtime {

/// The trace of a process (FULMAR_TRACE), and the file that it is written to.
class Tracing {
 public:
  Tracing(std::string folder, std::size_t records)
      : folder_(std::move(folder)), records_(records), trace_(records) {}

  /// nullptr where the options do not ask for a trace.
  static std::unique_ptr<Tracing> from(const Options& options);

  [[nodiscard]] base::Trace& trace() noexcept { return trace_; }
  /// How many are kept.
  [[nodiscard]] std::size_t records() const noexcept { return records_; }

  /// Writes rank-RANK.trace into the folder, which is made if it does not exist; a file of an
  /// earlier run is replaced. Reports a failure on stderr. Requires that no other thread is in MPI.
  void write(std::uint32_t rank, std::uint32_t size, const io::FileTrace& files) const;

 private:
  [[nodiscard]] base::Error save(const std::string& path, const std::string& text) const;

  std::string folder_;
  std::size_t records_;
  base::Trace trace_;
};

/// The contents of a trace, with names and threads numbered. A span whose begin the ring has
/// overwritten is left out.
[[nodiscard]] wire::TraceFile trace_file_of(const base::Trace& trace);
/// Adds the file operations. Paths are made fit for a line: other characters become ?.
void add_files(wire::TraceFile& file, const io::FileTrace& files);

}  // namespace fulmar::runtime
