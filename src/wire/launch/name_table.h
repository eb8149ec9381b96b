// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/error.h"
#include "wire/launch/launch_message.h"

namespace fulmar::wire {

/// The service names that a server keeps (MPI 5.0, 11.9.4), each with the port that is published
/// under it and with its publisher: a *publisher* is the server's number of one connection, and
/// belongs to a job. A name is removed when the connection of its publisher ends, so that lookups
/// do not return ports of ended processes.
class NameTable {
 public:
  struct Publisher {
    std::uint64_t connection = 0;
    std::uint32_t job = 0;
  };
  /// Far above what programs publish.
  static constexpr std::size_t most_names = 65536;
  static constexpr std::size_t most_bytes = 4096;  ///< of a name, and of a port

  /// Fails: service, where the name is taken, or empty or too long, or there are too many.
  [[nodiscard]] base::Error publish(const LaunchName& name, Publisher publisher);
  /// Fails: name, where it is not published.
  [[nodiscard]] base::Result<std::string> lookup(const std::string& service) const;
  /// By any process of the job that published it. An empty port means whichever it is. Fails:
  /// service, where the name is not published, by another job, or with another port.
  [[nodiscard]] base::Error unpublish(const LaunchName& name, std::uint32_t job);
  /// The connection has ended.
  void forget(std::uint64_t connection);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

 private:
  struct Entry {
    std::string port;
    Publisher publisher;
  };
  std::map<std::string, Entry> entries_;
};

/// The answer of a server that keeps `table` to a frame of kind publish, lookup or unpublish. Fails
/// (other) for another kind, or an invalid body.
[[nodiscard]] base::Result<LaunchAnswer> answer_about_name(NameTable& table,
                                                           const LaunchFrame& frame,
                                                           NameTable::Publisher publisher);

}  // namespace fulmar::wire
