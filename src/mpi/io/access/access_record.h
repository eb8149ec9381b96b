// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "mpi/io/access/access.h"
#include "mpi/io/file.h"

namespace fulmar::mpi {

struct AccessArguments;

/// How a data access call begins and ends (MPI 5.0 section 14.4.1, "synchronism").
enum class CallForm : std::uint8_t { blocking, nonblocking, split };
enum class Coordination : std::uint8_t { independent, collective };

/// "MPI_File_write_at_all" and so on; of a split call that which begins it.
[[nodiscard]] const char* access_call_name(const AccessArguments& arguments,
                                           Coordination coordination, CallForm form) noexcept;

/// One data access call: counts it, and records it when it has ended where the process is traced
/// (io/file_log.h). Without a trace it costs two additions.
class AccessRecord {
 public:
  AccessRecord() noexcept = default;
  /// The call begins.
  AccessRecord(const File& file, const AccessArguments& arguments, Coordination coordination,
               CallForm form) noexcept;

  /// The call has ended, on any thread. `access` contains the places of its data by now.
  void end(const Access& access) noexcept {
    if (trace_ != nullptr) [[unlikely]]
      add(access);
  }
  /// The same where that is known otherwise.
  void end(FileView::Part part, Count bytes) noexcept {
    if (trace_ != nullptr) [[unlikely]]
      add(part, bytes);
  }
  /// Its data were exchanged between ranks. While it is under way.
  void set_exchanged() noexcept { exchanged_ = true; }

  [[nodiscard]] const char* call() const noexcept { return call_; }

 private:
  [[gnu::cold]] void add(const Access& access) noexcept;
  [[gnu::cold]] void add(FileView::Part part, Count bytes) noexcept;

  io::FileTrace* trace_ = nullptr;
  const char* call_ = "";
  std::uint64_t begin_ns_ = 0;
  std::uint32_t number_ = 0;
  bool exchanged_ = false;
};

}  // namespace fulmar::mpi
