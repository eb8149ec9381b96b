// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <memory>
#include <span>
#include <utility>

#include "mpi/args.h"
#include "mpi/coll/choice.h"
#include "mpi/coll/engine/coll_task.h"
#include "mpi/comm/comm.h"
#include "mpi/datatype/datatype.h"
#include "mpi/p2p/message.h"

/// The messages of collective algorithms; mpi/coll/engine/coll_task.h says how to write one.
namespace fulmar::mpi {

class Transfers;

/// The tag of the next collective call of `comm`. Every rank takes exactly one in every call of a
/// kind that may send messages, also where its arguments are wrong, so that they agree. Calls
/// that are active at the same time differ in their tags.
[[nodiscard]] inline int next_tag(Comm& comm) noexcept {
  return static_cast<int>(comm.collective_calls++ & (largest_tag >> 1));
}
/// The tag of a persistent call, taken when it is made: it is started again and again, in any order
/// with others, so it must differ from those of all other calls for as long as it exists. Two
/// rounds of one call are distinguished by the order of the messages.
[[nodiscard]] inline int next_persistent_tag(Comm& comm) noexcept {
  const std::uint32_t number = comm.persistent_calls++ & (largest_tag >> 1);
  return static_cast<int>(number | ((largest_tag >> 1) + 1U));
}

/// One run of a collective algorithm: its messages, and its first error. Must not move before
/// the run is over. The communicator and the types of the data outlive it.
class CollContext {
 public:
  /// A message in flight, which notifies the CollContext when it is done.
  struct Part {
    Transfer transfer;
    CollContext* owner = nullptr;

    [[nodiscard]] bool under_way() const noexcept {
      return owner != nullptr && !transfer.operation.done();
    }
  };
  /// To be awaited: until a message is done, or all of the CollContext.
  class [[nodiscard]] Wait {
   public:
    Wait(CollContext& exchange, const Part* part) noexcept : exchange_(exchange), part_(part) {}
    [[nodiscard]] bool await_ready() const noexcept {
      return exchange_.is_done(part_) && !exchange_.abandoned_;
    }
    void await_suspend(std::coroutine_handle<> who) const noexcept {
      exchange_.who_ = who;
      exchange_.awaited_ = part_;
      if (exchange_.abandoned_) [[unlikely]]
        exchange_.end_when_done();
    }
    void await_resume() const noexcept {}

   private:
    CollContext& exchange_;
    const Part* part_;
  };

  CollContext(Comm& comm, Channel channel, int tag) noexcept;
  /// For a collective call of the user.
  CollContext(Comm& comm, int tag) noexcept : CollContext(comm, Channel::collective, tag) {}
  explicit CollContext(Comm& comm) noexcept : CollContext(comm, next_tag(comm)) {}
  CollContext(const CollContext&) = delete;
  CollContext& operator=(const CollContext&) = delete;
  ~CollContext();

  [[nodiscard]] Comm& comm() const noexcept { return comm_; }
  [[nodiscard]] int tag() const noexcept { return tag_; }
  /// Among the members, where the exchange is confined to some.
  [[nodiscard]] int rank() const noexcept { return members_.empty() ? comm_.rank : rank_; }
  [[nodiscard]] int size() const noexcept {
    return members_.empty() ? comm_.size() : static_cast<int>(members_.size());
  }
  /// The rank `by` places after this one (before it if negative), in the ring of all ranks.
  [[nodiscard]] int neighbour(int by) const noexcept {
    const int n = size();
    return ((rank() + by) % n + n) % n;
  }
  /// The algorithm to take; `shape.ranks` is filled in.
  [[nodiscard]] Way choose(Family family, CallShape shape) const noexcept;
  /// The type of uninterpreted bytes.
  [[nodiscard]] const Datatype& byte_type() const noexcept {
    return *comm_.library->find<Datatype>(MPI_BYTE);
  }

  // For algorithms. Each of these starts at once; the awaited value waits for all messages in
  // flight.
  Wait send(const ConstData& data, int dest) noexcept;
  Wait receive(const Data& data, int source) noexcept;
  /// Both at the same time.
  Wait send_receive(const ConstData& data, int dest, const Data& receive, int source) noexcept;

  /// Waits for something else than a message: `part.transfer.operation` is completed elsewhere, in
  /// any way (Device::complete), after `expect`. The part must live until then.
  void expect(Part& part) noexcept { prepare(part); }
  Wait wait_for(const Part& part) noexcept { return {*this, &part}; }

  /// Confines the exchange to these ranks of the communicator, among which this process is number
  /// `rank`; ranks of later messages are indexes of `members`, which outlive it. Requires that no
  /// message is in flight.
  void confine(std::span<const int> members, int rank) noexcept {
    members_ = members;
    rank_ = rank;
  }
  /// Ends `confine`: the exchange is among all ranks again.
  void widen() noexcept { members_ = {}; }
  /// The rank in the communicator of one of the current members.
  [[nodiscard]] int rank_in_comm(int rank) const noexcept {
    return members_.empty() ? rank : members_[static_cast<std::size_t>(rank)];
  }

  /// The algorithm calls a function of the user: it is resumed by threads of the program only.
  void set_calls_user() noexcept { calls_user_ = true; }

  /// The error of the call, unless there was one before. Without memory this rank cannot send what
  /// the others wait for: then the job ends, with a text.
  void note(base::Error error) noexcept {
    if (error.failed()) [[unlikely]]
      note_failure(error);
  }
  [[nodiscard]] base::Error result() const noexcept { return result_; }

  // For callers that run an algorithm.

  /// Starts it. `completion` becomes done when it ends, maybe before this returns.
  void start(CollTask algorithm, device::Operation& completion) noexcept;
  /// Runs it and waits for its end. Not within an algorithm.
  base::Error run(CollTask algorithm) noexcept;

  /// A process of the communicator has failed, or it was revoked: withdraws the unmatched messages,
  /// and ends the algorithm with `error`, without running it further, when the others are done. No
  /// effect if no algorithm waits here, or it is one of Channel::recovery, which works with failed
  /// processes.
  void abandon(base::Error error) noexcept;

 private:
  friend class Transfers;
  friend class Schedules;
  friend class CollTask::Promise;

  [[gnu::cold]] void note_failure(base::Error error) noexcept;
  void withdraw_messages() noexcept;
  [[gnu::cold]] void end_when_done() noexcept;
  [[gnu::cold]] void end_abandoned() noexcept;
  [[gnu::cold]] void end_whole(std::coroutine_handle<> whole) noexcept;
  [[gnu::cold]] void message_failed(const device::Operation& operation) noexcept;
  static void on_done(device::Operation& operation) noexcept;
  void start_send(Part& part, const ConstData& data, int dest) noexcept;
  void start_receive(Part& part, const Data& data, int source) noexcept;
  void prepare(Part& part) noexcept;
  [[nodiscard]] bool is_done(const Part* part) const noexcept {
    return part == nullptr ? open_ == 0 : !part->under_way();
  }

  Comm& comm_;
  Channel channel_;
  int tag_;
  int rank_ = 0;
  std::span<const int> members_;  ///< empty: all
  bool calls_user_ = false;
  int open_ = 0;  ///< messages in flight
  base::Error result_;
  std::coroutine_handle<> who_;        ///< waits
  const Part* awaited_ = nullptr;      ///< for this message, or all
  std::coroutine_handle<> ready_;      ///< waits no more
  CollContext* next_ready_ = nullptr;  ///< in Schedules
  device::Operation* completion_ = nullptr;
  bool abandoned_ = false;
  Transfers* transfers_ = nullptr;   ///< the innermost that exist
  CollContext* previous_ = nullptr;  ///< in Schedules, among all that exist
  CollContext* following_ = nullptr;
  Part outgoing_;
  Part incoming_;
};

/// A part that has lost a message ends all that it is a part of, also where it did not wait any more.
inline std::coroutine_handle<> CollTask::Promise::End::await_suspend(Frame frame) const noexcept {
  const std::coroutine_handle<> whole = frame.promise().whole_;
  CollContext& exchange = frame.promise().exchange_;
  frame.destroy();
  if (whole && !exchange.abandoned_) [[likely]]
    return whole;
  if (whole) {
    exchange.end_whole(whole);
  } else {
    end_run(exchange);
  }
  return std::noop_coroutine();
}

/// Several messages of a CollContext that are in flight together.
class Transfers {
 public:
  /// For `capacity` messages at a time. Where memory is used up the exchange fails, and the
  /// capacity is two.
  Transfers(CollContext& exchange, int capacity) noexcept;
  Transfers(const Transfers&) = delete;
  Transfers& operator=(const Transfers&) = delete;
  ~Transfers() { exchange_.transfers_ = outer_; }

  /// Waits for all messages; then `capacity` more can be started.
  [[nodiscard]] CollContext::Wait wait() noexcept {
    started_ = 0;
    return {exchange_, nullptr};
  }
  /// Before a message when `full()`: co_await transfers.wait().
  [[nodiscard]] bool full() const noexcept { return started_ == capacity_; }
  /// How many more messages can be started.
  [[nodiscard]] int free_places() const noexcept { return capacity_ - started_; }
  [[nodiscard]] int capacity() const noexcept { return capacity_; }
  /// Requires !full().
  void send(const ConstData& data, int dest) noexcept {
    exchange_.start_send(parts_[started_++], data, dest);
  }
  void receive(const Data& data, int source) noexcept {
    exchange_.start_receive(parts_[started_++], data, source);
  }

  // By place, for pipelines: a place below capacity() is used again when its message is done.
  [[nodiscard]] CollContext::Wait wait_for(int place) noexcept {
    return {exchange_, &parts_[place]};
  }
  void send_at(int place, const ConstData& data, int dest) noexcept {
    exchange_.start_send(parts_[place], data, dest);
  }
  void receive_at(int place, const Data& data, int source) noexcept {
    exchange_.start_receive(parts_[place], data, source);
  }

 private:
  friend class CollContext;
  static constexpr int few = 2;

  CollContext& exchange_;
  Transfers* outer_;  ///< of the same CollContext, made before
  std::unique_ptr<CollContext::Part[]> many_;
  CollContext::Part few_[few];
  CollContext::Part* parts_ = few_;
  int capacity_ = few;
  int started_ = 0;
};

}  // namespace fulmar::mpi
