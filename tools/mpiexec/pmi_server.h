// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "base/os/fd.h"
#include "mpiexec/poller.h"
#include "wire/launch/pmi1.h"
#include "wire/node/job.h"

namespace fulmar::mpiexec {

/// The server of PMI-1 (wire/launch/pmi1.h) for programs that were linked with another MPI library which
/// speaks it, such as MPICH; Fulmar's own needs none of it. One socket per rank, made before the
/// rank starts; nothing here blocks. A rank that breaks the protocol, or takes no answers, loses
/// its connection.
///
/// What such a program says about itself goes into its record, as Fulmar's library would write it:
/// so the end of a job is judged in the same way.
class PmiServer {
 public:
  /// `records` are the job's; both must outlive this. The name of the key-value space has `job_id`
  /// in it: MPICH names shared memory after it, which must not be another job's.
  PmiServer(Poller& poller, std::span<wire::RankRecord> records, std::uint32_t job_id);

  /// Makes the sockets of a rank; gives the rank's end, to be closed once the rank has been
  /// started.
  base::Result<base::UniqueFd> connect_rank(std::uint32_t rank);

  /// Something has come from a rank, or it has gone.
  void on_rank(std::uint32_t rank);

 private:
  struct Client {
    base::UniqueFd socket;
    std::string unread;  ///< the start of a line
    bool in_barrier = false;
    bool in_block = false;  ///< between mcmd= and endcmd, which spawn uses
  };

  void drop(std::uint32_t rank);
  bool answer(std::uint32_t rank, const std::string& line);
  bool take_lines(std::uint32_t rank);
  bool obey(std::uint32_t rank, const wire::PmiLine& line);
  bool put(std::uint32_t rank, const wire::PmiLine& line);
  bool get(std::uint32_t rank, const wire::PmiLine& line);
  bool enter_barrier(std::uint32_t rank);
  void abort(std::uint32_t rank, const wire::PmiLine& line);
  void set_state(std::uint32_t rank, wire::RankState state);

  Poller& poller_;
  std::span<wire::RankRecord> records_;
  std::vector<Client> clients_;
  std::string space_;
  std::unordered_map<std::string, std::string> values_;
  std::size_t value_bytes_ = 0;
  std::uint32_t arrived_ = 0;  ///< in the barrier
};

}  // namespace fulmar::mpiexec
