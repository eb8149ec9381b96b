// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

/// The file to which a rank writes its trace (base/trace.h), for `fulmar trace`: lines of text.
///
/// ```
/// fulmar-trace 2
/// rank RANK of SIZE
/// host NAME
/// lost COUNT             records that the ring did not hold any more
/// cost NS                what an empty span takes
/// clock NS               what has to be added to times for those since 1970
/// name TEXT              once for each name; they are numbered from 0
/// b NS THREAD NAME PEER BYTES
/// e NS THREAD            the newest span of the thread ends
/// path TEXT              of a file; they are numbered from 0
/// f KIND NS NS NAME FILE FIRST END BYTES   a file operation and its begin and end: bytes FIRST to
///                        END of the file, of which it moved BYTES. KIND: a an access of the
///                        program, x one whose data were exchanged, s a system call
/// ```
/// NS are nanoseconds of the host's clock; PEER is a rank, or - .
namespace fulmar::wire {

struct TraceEvent {
  static constexpr std::uint32_t ends = UINT32_MAX;
  static constexpr std::uint32_t no_peer = UINT32_MAX;

  std::uint64_t ns = 0;
  std::uint32_t thread = 0;   ///< numbered from 0
  std::uint32_t name = ends;  ///< index of that of the span that begins
  std::uint32_t peer = no_peer;
  std::uint64_t bytes = 0;

  [[nodiscard]] bool begins() const noexcept { return name != ends; }
};

/// A file operation.
struct TraceFileAccess {
  enum class Kind : std::uint8_t { access, exchanged_access, system_call };

  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  Kind kind = Kind::access;
  std::uint32_t name = 0;  ///< index of that of the call
  std::uint32_t file = 0;  ///< index of its path
  std::int64_t first = 0;
  std::int64_t end = 0;  ///< behind the last byte; not below `first`
  std::uint64_t bytes = 0;
};

struct TraceFile {
  std::uint32_t rank = 0;
  std::uint32_t size = 1;
  std::string host;
  std::uint64_t lost = 0;
  std::uint64_t cost_ns = 0;
  std::int64_t clock_ns = 0;
  std::vector<std::string> names;
  std::vector<TraceEvent> events;  ///< in the order in which they were recorded
  std::vector<std::string> paths;
  std::vector<TraceFileAccess> accesses;
};

inline constexpr std::size_t most_trace_names = 4096;
inline constexpr std::size_t longest_trace_name = 80;
inline constexpr std::size_t most_trace_paths = 4096;
inline constexpr std::size_t longest_trace_path = 4096;

/// A path for the file: characters that are not printable ASCII become ?.
std::string plain_path(std::string_view path);

std::string to_text(const TraceFile& trace);

/// Reads an untrusted file. Fails (other) with the line and the error; otherwise every name and
/// every rank that events refer to exists.
base::Result<TraceFile> parse_trace(std::string_view text);

}  // namespace fulmar::wire
