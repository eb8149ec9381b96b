// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace fulmar::io {

/// The last file operations of a process, in a ring that is written round and round: the data
/// accesses of the program, and the system calls that read and write. `fulmar trace` finds out which
/// system calls belong to which access by file, time and offset.
///
/// Thread rule: any thread at any time. A record that is being written while `take` runs may come
/// out mixed with the one that it replaces.
class FileTrace {
 public:
  enum class Kind : std::uint32_t {
    access,            ///< a data access call of MPI
    exchanged_access,  ///< one whose data were exchanged between ranks
    system_call,       ///< one that moves data, or stores them
  };
  struct Record {
    std::uint64_t begin_ns = 0;  ///< base::now_ns
    std::uint64_t end_ns = 0;
    const char* name = nullptr;  ///< of the call, for ever valid
    Kind kind = Kind::access;
    std::uint32_t file = 0;   ///< index of its path
    std::int64_t first = 0;   ///< byte of the file
    std::int64_t end = 0;     ///< behind the last one
    std::uint64_t bytes = 0;  ///< of data; fewer than end - first where there are gaps
  };

  /// Keeps the last `records` records, rounded up to a power of two.
  explicit FileTrace(std::size_t records);

  /// The number of a file in records. A path has one number, however often it is opened. Of more
  /// than `most_files` paths the others share the last number.
  [[nodiscard]] std::uint32_t number_of(const std::string& path);
  static constexpr std::size_t most_files = 1024;

  void add(const Record& record) noexcept;

  struct Taken {
    std::vector<Record> records;  ///< the oldest first
    std::vector<std::string> paths;
    std::uint64_t lost = 0;  ///< older ones that are gone
  };
  [[nodiscard]] Taken take() const;

 private:
  struct Slot {
    std::atomic<std::uint64_t> begin_ns{0};
    std::atomic<std::uint64_t> end_ns{0};
    std::atomic<const char*> name{nullptr};
    std::atomic<Kind> kind{Kind::access};
    std::atomic<std::uint32_t> file{0};
    std::atomic<std::int64_t> first{0};
    std::atomic<std::int64_t> end{0};
    std::atomic<std::uint64_t> bytes{0};
  };

  std::vector<Slot> ring_;
  std::atomic<std::uint64_t> next_{0};
  mutable std::mutex mutex_;
  std::vector<std::string> paths_;
};

}  // namespace fulmar::io
