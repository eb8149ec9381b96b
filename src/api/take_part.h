// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>

#include "api/entry.h"
#include "api/kinds/buffer.h"
#include "api/kinds/counts.h"
#include "api/kinds/info.h"
#include "api/kinds/op.h"
#include "api/kinds/ranks.h"
#include "api/kinds/significance.h"
#include "mpi/coll/engine/coll_context.h"
#include "mpi/coll/engine/run.h"
#include "mpi/coll/left_out.h"
#include "mpi/coll/stand_in.h"

/// After a collective call has ended with an error of its arguments this rank takes
/// part nevertheless, so that the calls of the others end (mpi/coll/stand_in.h). Where the
/// amount of its data is unknown (a wrong count, datatype or root), it takes part without data:
/// ranks that need some of it get an error, or wait. Deadlock reports mention
/// that, and with FULMAR_CHECK=collectives every rank gets the error (api/collective.h).
namespace fulmar::api {

template <class Wrapper>
inline constexpr bool gives_counts = false;
template <class T>
inline constexpr bool gives_counts<CountValues<T>> = true;

template <class Wrapper>
inline constexpr bool may_be_in_place = false;
template <class Result, class Address>
inline constexpr bool may_be_in_place<DataArgument<Result, Address, InPlace::allowed>> = true;

/// A buffer that is significant only at the root: it has a block for each rank.
template <class Wrapper>
inline constexpr bool is_at_root = false;
template <class Inner>
inline constexpr bool is_at_root<At<Significant::root, Inner>> = true;

/// Makes the wrappers of a call pass their checks, in the order of the prototype.
class Mender {
 public:
  Mender(Scope& scope, Call call, mpi::StandIn& stand_in) noexcept
      : scope_(scope),
        stand_in_(stand_in),
        exchanges_blocks_(std::string_view(call.name()).find("lltoall") != std::string_view::npos),
        gathers_blocks_(std::string_view(call.name()).find("llgather") != std::string_view::npos) {}

  template <class Wrapper>
  void mend(Wrapper& wrapper) {
    at_root_ = is_at_root<Wrapper>;
    if constexpr (requires { wrapper.inner; }) {
      if constexpr (may_be_in_place<decltype(wrapper.inner)>) mend_in_place(wrapper.inner);
      if (!wrapper.check(scope_)) repair(wrapper.inner);
    } else {
      if constexpr (may_be_in_place<Wrapper>) {
        if (scope_.comm->is_inter) mend_in_place(wrapper);
      }
      repair_if_wrong(wrapper);
    }
    good_ = good_ && wrapper.check(scope_);
  }

  /// After all of them: where their type was wrong, counts in separate arguments become 0.
  template <class Wrapper>
  void empty(Wrapper& wrapper) noexcept {
    if (!has_no_type_) return;
    if constexpr (requires { wrapper.inner; }) {
      empty(wrapper.inner);
    } else if constexpr (std::is_same_v<Wrapper, CountIn>) {
      wrapper.raw = 0;
    } else if constexpr (gives_counts<Wrapper>) {
      good_ = false;  // nobody knows how many there are
    }
  }

  /// The call can be made.
  [[nodiscard]] bool good() const noexcept { return good_ && !stand_in_.failed(); }
  /// Whether the counts of this rank's data are the user's.
  [[nodiscard]] bool knows_counts() const noexcept { return knows_counts_; }
  /// The request of a call that makes one.
  [[nodiscard]] MPI_Request request() const noexcept { return request_; }

 private:
  template <class Wrapper>
  void repair_if_wrong(Wrapper& wrapper) {
    if constexpr (std::is_same_v<Wrapper, Out<MPI_Request>>) {
      wrapper.raw = &request_;  // the user gets none
    } else {
      if (!wrapper.check(scope_)) repair(wrapper);
    }
  }

  /// Replaces MPI_IN_PLACE where it is not allowed: not at the root, or between groups.
  template <class Result, class Address>
  void mend_in_place(DataArgument<Result, Address, InPlace::allowed>& data) {
    if (!mpi::is_in_place(data.raw)) return;
    if (!scope_.comm->is_inter && is_root(*scope_.comm, scope_.root)) return;
    data.raw = nullptr;
    if (!data.check(scope_)) repair(data);
  }

  template <class Result, class Address, InPlace in_place>
  void repair(DataArgument<Result, Address, in_place>& data) {
    const auto* type = scope_.library.find<mpi::Datatype>(data.handle);
    if (data.count >= 0 && type != nullptr && type->committed) {
      const bool receives = std::is_same_v<Result, mpi::Data>;
      const bool in_blocks = at_root_ || exchanges_blocks_ || (gathers_blocks_ && receives);
      const int ranks = std::max(scope_.comm->size(), scope_.comm->remote_size);
      data.raw = stand_in_.buffer(*type, in_blocks ? data.count * ranks : data.count);
      return;
    }
    knows_counts_ = false;
    data.raw = nullptr;
    data.count = 0;
    data.handle = MPI_INT;
  }
  void repair(CountIn& count) noexcept {
    knows_counts_ = false;
    count.raw = 0;
  }
  void repair(DatatypeIn& type) noexcept {
    knows_counts_ = false;
    has_no_type_ = true;
    type.raw = MPI_INT;
  }
  void repair(OpIn& op) noexcept { op.raw = MPI_SUM; }
  void repair(InfoOrNullIn& info) noexcept { info.raw = MPI_INFO_NULL; }
  /// A root, or an argument of other calls: cannot be guessed.
  template <class Wrapper>
  void repair(Wrapper& /*wrapper*/) noexcept {
    good_ = false;
  }

  Scope& scope_;
  mpi::StandIn& stand_in_;
  bool good_ = true;
  bool knows_counts_ = true;
  bool exchanges_blocks_;  ///< both buffers have a block for each rank
  bool gathers_blocks_;    ///< the receive buffer has
  bool at_root_ = false;
  bool has_no_type_ = false;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Whether a wrapper, if it is of this stage, is valid. Reports no error.
template <Stage stage, class Wrapper>
[[nodiscard]] bool passes(Scope& scope, Wrapper& wrapper) {
  if constexpr (Wrapper::stage == stage) return wrapper.check(scope);
  return true;
}

/// After a call has ended with an error: takes part for this rank if the call has not done so. The
/// wrappers are those of the call, not checked.
template <auto implementation, class... Wrappers>
[[gnu::cold, gnu::noinline]] void take_part(mpi::Library& library, Call call,
                                            Wrappers... wrappers) {
  const base::EngineGuard guard(library.lock);
  Scope scope{library};
  (void)(passes<Stage::object>(scope, wrappers) && ...);
  if (scope.comm == nullptr) return;
  auto& comm = const_cast<mpi::Comm&>(*scope.comm);
  const bool root_is_good = (passes<Stage::root>(scope, wrappers) && ...);
  const bool good = root_is_good && (passes<Stage::other>(scope, wrappers) && ...);
  const bool refused =
      std::exchange(comm.refused, false) && comm.refused_at == comm.collective_calls;
  if (good && !refused) return;  // it failed later, or takes no part before it is started
  if (mpi::is_persistent_call(call.name())) return mpi::skip_persistent_call(comm, call.name());
  if (refused) --comm.collective_calls;  // the call is made again
  auto stand_in = std::unique_ptr<mpi::StandIn>(new (std::nothrow) mpi::StandIn);
  if (!comm.is_inter && comm.size() == 1) return (void)mpi::next_tag(comm);  // nobody waits
  if (!root_is_good || stand_in == nullptr) return mpi::skip_call(comm, call.name());
  Mender mender(scope, call, *stand_in);
  (mender.mend(wrappers), ...);
  (mender.empty(wrappers), ...);
  if (!mender.good()) return mpi::skip_call(comm, call.name());
  if (!mender.knows_counts()) mpi::note_left_out(comm, call.name());
  comm.stand_in = stand_in.get();
  mpi::ErrorTarget target;
  (void)invoke<implementation>(scope, call, target, wrappers.value(scope)...);
  comm.stand_in = nullptr;
  comm.refused = false;
  if (mender.request() != MPI_REQUEST_NULL) {
    mpi::leave_call_running(library, mender.request(), std::move(stand_in));
  }
}

}  // namespace fulmar::api
