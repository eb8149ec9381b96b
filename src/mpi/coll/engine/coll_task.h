// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <coroutine>
#include <cstddef>
#include <utility>

/// How collective algorithms are written.
///
/// A collective algorithm is a sequence of steps that each wait for messages. A blocking call could
/// run it as it stands; a non-blocking one has to leave it at each wait, and resume it there
/// once the messages are complete, in any call of the user that makes progress. So an
/// algorithm is a C++20 coroutine, written once:
///
///     CollTask pass_on(CollContext& exchange, Data data, int root) {
///       const int last = exchange.size() - 1;
///       if (exchange.rank() != root) co_await exchange.receive(data, exchange.neighbour(-1));
///       if (exchange.neighbour(1) != root) {
///         co_await exchange.send(as_const(data), exchange.neighbour(1));
///       }
///     }
///
/// and three kinds of calls run it (see calls of mpi/coll/engine/run.h): blocking ones start it and
/// wait for its end, non-blocking ones start it and give the user a request that is complete with
/// its end, persistent ones keep the arguments and start it again and again.
///
/// Rules:
///
/// * It is a free function (or a static one) whose first parameter is the CollContext; that is
///   where its messages, its memory and its errors go. Other parameters are trivial types by value,
///   or references to objects that live until the end of the call: the arguments of the call (Run
///   keeps them), variables of the algorithm that awaits this one. No lambda is a coroutine.
/// * `co_await exchange.send(...)`, `.receive(...)`, `.send_receive(...)` start messages and
///   continue when they are done. For many messages: put them into a `Transfers` and `co_await
///   transfers.wait()`. A message that is done at once does not suspend the function.
/// * `co_await other(exchange, ...)` runs another algorithm as a part of this one, once. Parts run
///   one after the other, not at the same time.
/// * Every message of a call has the same tag, so two ranks must send and receive the messages
///   between them in the same order.
/// * An error does not end an algorithm early: other ranks would wait for its messages for ever.
///   It is passed to `exchange.note`, and the first one noted is returned at the end. Only before
///   its first message may a rank return because of arguments that are wrong in every rank.
/// * Between two waits it runs under the lock, which all other threads wait for.
/// * gcc 12: no objects with destructors as temporaries in an expression with co_await, no co_await
///   within ?: or an initializer list. Results of co_await are void.
///
/// Implementation: a message that is done puts the CollContext that waits for it into the list of
/// ready ones (mpi/coll/engine/schedules.h); the next progress call resumes those. So no algorithm
/// is ever resumed inside the device. Frames come from a pool: a repeated call costs no malloc.
namespace fulmar::mpi {

class CollContext;

/// What an algorithm returns: a handle with which it is run exactly once, by `co_await` or
/// CollContext::start. Null when there was no memory for its frame; then the error has been noted
/// in the CollContext. Has no destructor, so that gcc 12 can have it as a temporary.
class [[nodiscard]] CollTask {
 public:
  class Promise;
  using promise_type = Promise;
  using Frame = std::coroutine_handle<Promise>;

  CollTask() noexcept = default;
  explicit CollTask(Frame frame) noexcept : frame_(frame) {}

  [[nodiscard]] bool is_null() const noexcept { return !frame_; }
  [[nodiscard]] Frame frame() const noexcept { return frame_; }

  // Awaiting a part.
  [[nodiscard]] bool await_ready() const noexcept { return is_null(); }
  [[nodiscard]] inline Frame await_suspend(std::coroutine_handle<> whole) const noexcept;
  void await_resume() const noexcept {}

 private:
  Frame frame_;
};

/// The promise type that the compiler requires.
class CollTask::Promise {
 public:
  template <class... Arguments>
  explicit Promise(CollContext& exchange, Arguments&&... /*of the algorithm*/) noexcept
      : exchange_(exchange) {}

  template <class... Arguments>
  static void* operator new(std::size_t bytes, CollContext& exchange,
                            Arguments&&... /*of the algorithm*/) noexcept {
    return allocate(bytes, exchange);
  }
  static void operator delete(void* frame) noexcept;

  static CollTask get_return_object_on_allocation_failure() noexcept { return CollTask(); }
  CollTask get_return_object() noexcept { return CollTask(Frame::from_promise(*this)); }
  [[nodiscard]] std::suspend_always initial_suspend() const noexcept { return {}; }

  /// At the end the frame is freed; the awaiting coroutine goes on, or the run of the CollContext
  /// is over. Defined in coll_context.h.
  struct End {
    [[nodiscard]] bool await_ready() const noexcept { return false; }
    [[nodiscard]] inline std::coroutine_handle<> await_suspend(Frame frame) const noexcept;
    void await_resume() const noexcept {}
  };
  [[nodiscard]] End final_suspend() const noexcept { return {}; }
  void return_void() const noexcept {}
  void unhandled_exception() const noexcept {}  // there are none

 private:
  friend class CollTask;
  friend class CollContext;

  /// nullptr after noting the error.
  static void* allocate(std::size_t bytes, CollContext& exchange) noexcept;
  static void end_run(CollContext& exchange) noexcept;

  CollContext& exchange_;
  std::coroutine_handle<> whole_;  ///< the coroutine that awaits this one; null for the outermost
};

inline CollTask::Frame CollTask::await_suspend(std::coroutine_handle<> whole) const noexcept {
  frame_.promise().whole_ = whole;
  return frame_;
}

}  // namespace fulmar::mpi
