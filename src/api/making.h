// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/kinds/comm.h"
#include "api/kinds/counts.h"
#include "api/kinds/errhandler.h"
#include "api/kinds/group.h"
#include "api/kinds/info.h"
#include "api/kinds/ranks.h"
#include "api/kinds/significance.h"
#include "api/kinds/strings.h"
#include "api/take_part.h"
#include "mpi/comm_make/calls.h"

/// Calls that make communicators and windows. A rank whose arguments are wrong gets its error, and
/// then notifies the others that it cannot take part: the call fails in all of them, and none
/// waits.
namespace fulmar::api {

/// Makes the wrappers pass their checks; their values do not matter, as nothing is made.
class MakingMender {
 public:
  /// The participants: all processes of a communicator, or the members of a group, which match
  /// by the group and a tag. Those cannot be guessed.
  enum class Partners : std::uint8_t { communicator, group };
  MakingMender(Scope& scope, Partners partners) noexcept : scope_(scope), partners_(partners) {}

  template <class Wrapper>
  void mend(Wrapper& wrapper) {
    if constexpr (std::is_same_v<Wrapper, Out<MPI_Request>>) {
      wrapper.raw = &request_;  // the user gets none
      makes_request_ = true;
    } else {
      if (!wrapper.check(scope_)) repair(wrapper);
    }
    good_ = good_ && wrapper.check(scope_);
  }
  /// After all of them: without a tag or leader this rank does not exchange with the other group;
  /// and the object that a request makes is not returned to the user.
  template <class Wrapper>
  void finish(Wrapper& wrapper) noexcept {
    if constexpr (std::is_same_v<Wrapper, Plain<MPI_Comm>>) {
      if (lacks_tag_ || lacks_leader_) wrapper.raw = MPI_COMM_NULL;
    }
    if constexpr (std::is_same_v<Wrapper, Out<MPI_Comm>>) {
      if (makes_request_) wrapper.raw = &nothing_;
    }
  }
  [[nodiscard]] bool good() const noexcept { return good_; }
  /// The request of a call that makes one.
  [[nodiscard]] MPI_Request request() const noexcept { return request_; }

 private:
  /// The leader that most of the others name counts (mpi/comm_make/inter.cc).
  void repair(CommRankIn& leader) noexcept {
    leader.raw = 0;
    lacks_leader_ = true;
  }
  void repair(ErrhandlerIn& errhandler) noexcept { errhandler.raw = MPI_ERRORS_RETURN; }
  void repair(NaturalIn& number) noexcept { number.raw = 0; }
  void repair(ColorIn& color) noexcept { color.raw = MPI_UNDEFINED; }
  void repair(GroupIn& group) noexcept {
    if (partners_ == Partners::communicator) group.raw = MPI_GROUP_EMPTY;
  }
  void repair(InfoOrNullIn& info) noexcept { info.raw = MPI_INFO_NULL; }
  void repair(Out<MPI_Comm>& comm) noexcept { comm.raw = &nothing_; }
  void repair(Out<MPI_Win>& win) noexcept { win.raw = &no_window_; }
  void repair(PointerOut& memory) noexcept { memory.raw = &no_memory_; }
  void repair(MemorySizeIn& size) noexcept { size.raw = 0; }
  void repair(UnitIn& unit) noexcept { unit.raw = 1; }
  void repair(SendTagIn& tag) noexcept {
    if (partners_ == Partners::group) return;
    tag.raw = 0;
    lacks_tag_ = true;
  }
  void repair(StringIn& text) noexcept { text.raw = ""; }
  template <Significant where, class Inner>
  void repair(At<where, Inner>& at_root) noexcept {
    repair(at_root.inner);
  }
  template <class T, class Length>
  void repair(Span<T, Length>& values) noexcept {
    if constexpr (!std::is_void_v<Length>) values.length = 0;
  }
  template <class Wrapper>
  void repair(Wrapper& /*wrapper*/) noexcept {}

  Scope& scope_;
  Partners partners_;
  bool good_ = true;
  bool lacks_tag_ = false;
  bool lacks_leader_ = false;
  bool makes_request_ = false;
  MPI_Comm nothing_ = MPI_COMM_NULL;
  MPI_Win no_window_ = MPI_WIN_NULL;
  void* no_memory_ = nullptr;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// After such a call has ended with an error. The wrappers are those of the call, not checked.
template <auto implementation, class... Wrappers>
[[gnu::cold, gnu::noinline]] void take_part_in_creation(Call call, Wrappers... wrappers) {
  mpi::Library* library = usable_library();
  if (library == nullptr) library = traced_library();
  if (library == nullptr) return;
  const base::EngineGuard guard(library->lock);
  Scope scope{*library};
  (void)(passes<Stage::object>(scope, wrappers) && ...);
  if (scope.comm == nullptr) return;
  (void)(passes<Stage::root>(scope, wrappers) && ...);         // says what counts here
  if ((passes<Stage::other>(scope, wrappers) && ...)) return;  // it has told the others itself
  auto& comm = const_cast<mpi::Comm&>(*scope.comm);
  MakingMender mender(scope, MakingMender::Partners::communicator);
  (mender.mend(wrappers), ...);
  (mender.finish(wrappers), ...);
  if (!mender.good()) return mpi::skip_call(comm, call.name());
  comm.refused = true;
  mpi::ErrorTarget target;
  (void)invoke<implementation>(scope, call, target, wrappers.value(scope)...);
  comm.refused = false;
  if (mender.request() != MPI_REQUEST_NULL) mpi::leave_idup_running(*library, mender.request());
}

/// The same for calls of the members of a group. Where the group or the tag is wrong, the
/// others wait; deadlock reports say so.
template <auto implementation, class... Wrappers>
[[gnu::cold, gnu::noinline]] void take_part_in_group_creation(Call call, Wrappers... wrappers) {
  mpi::Library* library = usable_library();
  if (library == nullptr) library = traced_library();
  if (library == nullptr) return;
  const base::EngineGuard guard(library->lock);
  Scope scope{*library};
  const bool found = (passes<Stage::object>(scope, wrappers) && ...);
  if (found && (passes<Stage::other>(scope, wrappers) && ...)) return;
  MakingMender mender(scope, MakingMender::Partners::group);
  (mender.mend(wrappers), ...);
  if (!mender.good()) {
    if (scope.comm != nullptr) mpi::note_left_out(const_cast<mpi::Comm&>(*scope.comm), call.name());
    return;
  }
  library->refused = true;
  mpi::ErrorTarget target;
  (void)invoke<implementation>(scope, call, target, wrappers.value(scope)...);
  library->refused = false;
}

/// `entry` for calls that make communicators of the members of a group.
template <auto implementation, When when = When::running, Lock lock = Lock::held,
          Errors errors = Errors::first_object, class... Wrappers>
[[gnu::always_inline]] inline int group_making_entry(Call call, Wrappers... wrappers) {
  const int result = entry<implementation, when, lock, errors>(call, wrappers...);
  if (result != MPI_SUCCESS) [[unlikely]]
    take_part_in_group_creation<implementation>(call, wrappers...);
  return result;
}

/// Starts the progress thread if a window that was made needs one (mpi::World::window_thread).
[[gnu::noinline]] void start_window_thread() noexcept;

/// `entry` for calls that make communicators or windows of all processes of one.
template <auto implementation, class... Wrappers>
[[gnu::always_inline]] inline int making_entry(Call call, Wrappers... wrappers) {
  const int result = entry<implementation>(call, wrappers...);
  if (result != MPI_SUCCESS) [[unlikely]] {
    take_part_in_creation<implementation>(call, wrappers...);
  } else {
    start_window_thread();
  }
  return result;
}

}  // namespace fulmar::api
