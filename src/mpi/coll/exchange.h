// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <memory>
#include <span>

#include "mpi/args.h"
#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"
#include "mpi/p2p/message.h"

namespace fulmar::mpi {

/// The messages of one collective call: its tag, and its first error.
///
/// An error does not stop an algorithm, because the other ranks would wait for its messages for
/// ever: it goes on with whatever bytes there are and tells the error at the end.
class Exchange {
 public:
  /// Takes the number of the next collective call of `comm`. Every rank makes exactly one in every
  /// collective call, so that the numbers agree.
  explicit Exchange(Comm& comm) noexcept
      : Exchange(comm, Channel::collective,
                 static_cast<int>(comm.collective_calls++ & largest_tag)) {}
  /// For exchanges of the library itself that have their own tag.
  Exchange(Comm& comm, Channel channel, int tag) noexcept
      : comm_(comm), channel_(channel), tag_(tag) {}
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  [[nodiscard]] Comm& comm() const noexcept { return comm_; }
  [[nodiscard]] int rank() const noexcept { return comm_.rank; }
  [[nodiscard]] int size() const noexcept { return comm_.size(); }
  /// A rank `by` places on (or back), in the ring of all ranks.
  [[nodiscard]] int neighbour(int by) const noexcept {
    const int n = size();
    return ((rank() + by) % n + n) % n;
  }

  void send(const ConstData& data, int dest);
  void receive(const Data& data, int source);
  /// Both at the same time.
  void send_receive(const ConstData& data, int dest, const Data& room, int source);

  void note(base::Error error) noexcept {
    if (result_.ok()) result_ = error;
  }
  [[nodiscard]] base::Error result() const noexcept { return result_; }

 private:
  friend class Transfers;

  Comm& comm_;
  Channel channel_;
  int tag_;
  base::Error result_;
};

/// Several messages of an Exchange that are under way together.
class Transfers {
 public:
  /// Room for `capacity` messages; where memory is used up the exchange fails, and messages go one
  /// by one.
  Transfers(Exchange& exchange, int capacity) noexcept;
  /// Waits for all.
  ~Transfers() { wait(); }
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;

  void send(const ConstData& data, int dest) noexcept;
  void receive(const Data& data, int source) noexcept;
  /// Returns when all started so far are done; then there is room for as many again.
  void wait() noexcept;

 private:
  Transfer* next() noexcept;

  Exchange& exchange_;
  std::unique_ptr<Transfer[]> transfers_;
  int capacity_;
  int started_ = 0;
};

}  // namespace fulmar::mpi
