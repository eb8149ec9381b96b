// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <memory>
#include <new>
#include <optional>
#include <span>

#include "mpi/coll/check/count_check.h"
#include "mpi/coll/engine/argument_copies.h"
#include "mpi/coll/engine/coll_context.h"
#include "mpi/op/op.h"
#include "mpi/request/request.h"

/// The three kinds of collective calls.
///
/// The arguments of one collective operation are a struct (a "call"), with
///
///     static constexpr const char* nonblocking = "MPI_Ibcast";       // for error texts
///     static constexpr const char* persistent = "MPI_Bcast_init request";
///     base::Error check(const Comm&);         // arguments that are wrong
///     bool substitute(const Comm&, StandIn&); // wrong arguments; see stand_in.h. False: impossible
///     CollTask algorithm(CollContext&) const;   // chooses one, and returns it, not started
///     Held held() const;                      // objects that must outlive the user's handles
///
/// and, where the operation exists between groups, `inter_check` and `inter_algorithm`, which take
/// the place of the first two on an intercommunicator.
///
/// It does not move before the run is over, so algorithms may refer to its members. Arrays of
/// counts and displacements belong to the user, and may be gone when the MPI call returns; a call
/// that has some copies them for a request by
///
///     void keep_arrays(const Comm&, ArgumentCopies&);
///
/// A call whose amount of data differs from rank to rank lists the counts, for
/// FULMAR_CHECK=collectives; so does every call that moves data between groups:
///
///     void add_counts(const Comm&, CountCheck&) const;
///     void add_inter_counts(const Comm&, CountCheck&) const;
namespace fulmar::mpi {

class CollectiveCall;

/// Objects that a call uses, which the user may free before the call is complete. Null pointers and
/// predefined objects are allowed.
struct Held {
  std::array<const Datatype*, 2> types{};
  const Op* op = nullptr;
  std::span<const Datatype* const> more_types;
};

/// Whether the algorithms of such a call run a function of the user.
[[nodiscard]] inline bool calls_user(const Held& held) noexcept {
  return held.op != nullptr && held.op->code == OpCode::user;
}

template <class Call>
base::Error check_call(const Comm& comm, Call& call) {
  if constexpr (requires { call.inter_check(comm); }) {
    if (comm.is_inter) return call.inter_check(comm);
  }
  return call.check(comm);
}

/// `check_call` before the first message of a call: a call with wrong arguments is refused;
/// where the communicator has a StandIn, the wrong arguments are replaced
/// instead.
template <class Call>
base::Error admit(Comm& comm, Call& call) {
  const base::Error bad = check_call(comm, call);
  if (bad.ok()) [[likely]]
    return {};
  if constexpr (requires { call.substitute(comm, *comm.stand_in); }) {
    if (StandIn* stand_in = std::exchange(comm.stand_in, nullptr); stand_in != nullptr) {
      return call.substitute(comm, *stand_in) ? base::Error{} : bad;
    }
  }
  comm.refused = true;
  comm.refused_at = comm.collective_calls;
  return bad;
}

/// With FULMAR_CHECK=collectives, where the amounts of data may differ from rank to rank.
template <class Call>
CollTask compare_counts_and_run(CollContext& exchange, const Call& call) {
  CountCheck count_check(*exchange.comm().library);
  call.add_counts(exchange.comm(), count_check);
  co_await CountCheck::compare(exchange, count_check);
  if (exchange.result().failed()) co_return;
  co_await call.algorithm(exchange);
}
template <class Call>
CollTask compare_inter_counts_and_run(CollContext& exchange, const Call& call) {
  CountCheck count_check(*exchange.comm().library);
  call.add_inter_counts(exchange.comm(), count_check);
  co_await CountCheck::compare(exchange, count_check);
  if (exchange.result().failed()) co_return;
  co_await call.inter_algorithm(exchange);
}
template <class Call>
CollTask inter_algorithm_of(CollContext& exchange, const Call& call) {
  if constexpr (requires(CountCheck& count_check) {
                  call.add_inter_counts(exchange.comm(), count_check);
                }) {
    if (compares_counts(exchange.comm())) [[unlikely]]
      return compare_inter_counts_and_run(exchange, call);
  }
  return call.inter_algorithm(exchange);
}

template <class Call>
CollTask algorithm_of(CollContext& exchange, const Call& call) {
  const Comm& comm = exchange.comm();
  if constexpr (requires { call.inter_algorithm(exchange); }) {
    if (comm.is_inter) return inter_algorithm_of(exchange, call);
  }
  if constexpr (requires(CountCheck& count_check) { call.add_counts(comm, count_check); }) {
    if (compares_counts(comm)) [[unlikely]]
      return compare_counts_and_run(exchange, call);
  }
  return call.algorithm(exchange);
}

/// Blocking: runs the algorithm of a call that was checked to its end.
template <class Call>
base::Error run_call(Comm& comm, int tag, const Call& call) {
  CollContext exchange(comm, tag);
  if (calls_user(call.held())) exchange.set_calls_user();
  return exchange.run(algorithm_of(exchange, call));
}

/// Blocking, on an intercommunicator: checks the call and runs it.
template <class Call>
[[gnu::noinline]] base::Error run_inter_call(Comm& comm, int tag, Call call) {
  if (const base::Error bad = admit(comm, call); bad.failed()) return bad;
  return run_call(comm, tag, call);
}

/// What the request of a non-blocking or persistent call keeps (Request::extra).
class CollRequest {
 public:
  CollRequest(Comm& comm, int tag) noexcept;
  virtual ~CollRequest();
  CollRequest(const CollRequest&) = delete;
  CollRequest& operator=(const CollRequest&) = delete;

  /// Copies the caller's arrays.
  virtual void keep_arrays() = 0;

  /// Starts one run; `completion` becomes done when it ends.
  virtual void start(device::Operation& completion) noexcept {
    exchange_.emplace(comm_, tag_);
    if (calls_user_) exchange_->set_calls_user();
    exchange_->start(
        announced_ != nullptr ? compare_and_run(*exchange_, *this) : algorithm(*exchange_),
        completion);
  }
  /// Of the last run, which is over.
  [[nodiscard]] base::Error result() const noexcept {
    if (error_.failed()) [[unlikely]]
      return error_;
    return exchange_ ? exchange_->result() : base::Error{};
  }
  /// Sets the result, whatever happens later.
  void note(const base::Error& error) { error_ = error; }
  /// The call uses this memory; it lives as long.
  void keep(std::unique_ptr<StandIn> stand_in) noexcept;

 protected:
  void acquire(const Held& held) noexcept;
  void release(const Held& held) noexcept;
  [[nodiscard]] Comm& comm() const noexcept { return comm_; }
  /// Before another run of a persistent call.
  void forget_result() noexcept {
    error_ = {};
    exchange_.reset();
  }
  /// A run of other messages than those of `algorithm`, made by `make(CollContext&)`.
  template <class Make>
  void start_messages(Make&& make, device::Operation& completion) noexcept {
    exchange_.emplace(comm_, tag_);
    exchange_->start(make(*exchange_), completion);
  }

 private:
  virtual CollTask algorithm(CollContext& exchange) const = 0;
  /// With FULMAR_CHECK=collectives.
  static CollTask compare_and_run(CollContext& exchange, const CollRequest& call);

  Comm& comm_;
  std::unique_ptr<CollectiveCall> announced_;  ///< null where calls are not compared
  std::unique_ptr<StandIn> stand_in_;          ///< null where the arguments were right
  int tag_;
  bool calls_user_ = false;
  base::Error error_;
  std::optional<CollContext> exchange_;
};

template <class Call>
class CollRequestOf : public CollRequest {
 public:
  void keep_arrays() override {
    if constexpr (requires { call_.keep_arrays(comm(), arrays_); }) {
      call_.keep_arrays(comm(), arrays_);
    }
  }

  CollRequestOf(Comm& comm, int tag, Call&& call) noexcept
      : CollRequest(comm, tag), call_(std::move(call)) {
    acquire(call_.held());
  }
  ~CollRequestOf() override { release(call_.held()); }

 protected:
  [[nodiscard]] const Call& call() const noexcept { return call_; }

 private:
  CollTask algorithm(CollContext& exchange) const override { return algorithm_of(exchange, call_); }

  Call call_;
  ArgumentCopies arrays_;
};

// The functions of the kinds of requests.
base::Error start_coll_request(Request& request);
base::Error finish_coll_request(Request& request, MPI_Status& status);
void release_coll_request(Request& request);

template <class Call>
inline constexpr RequestKind nonblocking_kind{
    .name = Call::nonblocking,
    .start = nullptr,
    .finish = finish_coll_request,
    .cancel = nullptr,
    .release = release_coll_request,
    .must_complete = true,
};
template <class Call>
inline constexpr RequestKind persistent_kind{
    .name = Call::persistent,
    .start = start_coll_request,
    .finish = finish_coll_request,
    .cancel = nullptr,
    .release = release_coll_request,
    .must_complete = true,
};

/// Leaves the call of a rank with wrong arguments running without a handle for the user.
/// MPI_Finalize waits for it. `stand_in` has its buffers.
void leave_call_running(Library& library, MPI_Request handle, std::unique_ptr<StandIn> stand_in);

/// Takes `kept`, which may be null: no memory.
base::Error make_nonblocking_request(const RequestKind& kind, Comm& comm, CollRequest* kept,
                                     MPI_Request& out);
base::Error make_persistent_request(const RequestKind& kind, Comm& comm, CollRequest* kept,
                                    MPI_Request& out);
/// The request of a call that has ended with an error, which completion returns.
base::Error make_failed_request(const RequestKind& kind, Comm& comm, CollRequest* kept,
                                const base::Error& error, MPI_Request& out);

/// Non-blocking: starts a call that was checked.
template <class Call>
base::Error start_admitted(Comm& comm, int tag, Call&& call, MPI_Request& out) {
  return make_nonblocking_request(
      nonblocking_kind<Call>, comm,
      new (std::nothrow) CollRequestOf<Call>(comm, tag, std::forward<Call>(call)), out);
}
/// Non-blocking: checks the call and starts it.
template <class Call>
base::Error start_call(Comm& comm, int tag, Call call, MPI_Request& out) {
  if (const base::Error bad = admit(comm, call); bad.failed()) return bad;
  return start_admitted<Call>(comm, tag, std::move(call), out);
}

/// Persistent: keeps a call that was checked for MPI_Start.
template <class Call>
base::Error keep_checked(Comm& comm, int tag, Call&& call, MPI_Request& out) {
  return make_persistent_request(
      persistent_kind<Call>, comm,
      new (std::nothrow) CollRequestOf<Call>(comm, tag, std::forward<Call>(call)), out);
}
/// Persistent: checks the call and keeps it.
template <class Call>
base::Error keep_call(Comm& comm, int tag, Call call, MPI_Request& out) {
  if (const base::Error bad = check_call(comm, call); bad.failed()) return bad;
  return keep_checked(comm, tag, std::move(call), out);
}

}  // namespace fulmar::mpi
