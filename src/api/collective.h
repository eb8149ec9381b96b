// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "api/take_part.h"
#include "mpi/coll/check/collective_check.h"
#include "mpi/coll/engine/schedules.h"
#include "mpi/comm/world.h"
#include "mpi/errhandler/raise.h"

/// The entry of collective calls: with FULMAR_CHECK=collectives all ranks first compare their
/// calls (mpi/coll/check/collective_check.h), from the same wrappers that `entry` takes.
namespace fulmar::api {

/// For MPI_Reduce, where arguments of idle processes between groups are not significant.
template <class Wrapper>
inline constexpr bool is_plain_at_members =
    std::is_same_v<Wrapper, At<Significant::member, OpIn>> ||
    std::is_same_v<Wrapper, At<Significant::member, CountIn>> ||
    std::is_same_v<Wrapper, At<Significant::member, DatatypeIn>>;

/// Reads from the wrappers of a call the values that are compared.
class CallReader {
 public:
  CallReader(mpi::CollectiveCall& call, Scope& scope) noexcept : call_(call), scope_(scope) {}

  template <class Wrapper>
  void read(const Wrapper& wrapper) {
    if constexpr (is_plain_at_members<Wrapper>) {
      if (wrapper.significant) read(wrapper.inner);
    } else if constexpr (std::is_same_v<Wrapper, RootIn>) {
      call_.add_root(wrapper.raw);
    } else if constexpr (std::is_same_v<Wrapper, OpIn>) {
      call_.add_op(*wrapper.object);
    } else if constexpr (std::is_same_v<Wrapper, CountIn>) {
      count_ = wrapper.value(scope_);
    } else if constexpr (gives_counts<Wrapper>) {
      counts_ = wrapper.value(scope_);
    } else if constexpr (std::is_same_v<Wrapper, DatatypeIn>) {
      if (!counts_.is_null() && call_.has_common_parts()) {
        call_.add_parts(counts_, *wrapper.object, *scope_.comm);
      } else {
        call_.add_data(count_, *wrapper.object);
      }
    } else if constexpr (requires { wrapper.value(scope_).address; }) {
      const auto data = wrapper.value(scope_);
      if (data.type != nullptr) call_.add_data(data.count, *data.type);
    }
  }

 private:
  mpi::CollectiveCall& call_;
  Scope& scope_;
  mpi::Count count_ = 0;
  mpi::CountArray counts_;
};

/// Notifies the other ranks that the arguments of this one are wrong: all get an error that says
/// so, now, or when they complete their requests. The call itself is not made.
void send_refusal(const Scope& scope, Call call, int code);
void send_refusal_later(const Scope& scope, Call call, int code);

/// Compares the call with those of the other ranks, or announces one that compares later. False
/// where the call has failed with `result`.
enum class Comparison : std::uint8_t { now, later };
template <Comparison comparison, class... Wrappers>
[[gnu::noinline]] bool agrees(mpi::Library& library, Call call, int& result, Wrappers... wrappers) {
  const base::EngineGuard guard(library.lock);
  Scope scope{library};
  const bool good = (check_at<Stage::object>(scope, call, wrappers, result) && ...) &&
                    (check_at<Stage::root>(scope, call, wrappers, result) && ...) &&
                    (check_at<Stage::other>(scope, call, wrappers, result) && ...);
  if (!good) {
    if constexpr (comparison == Comparison::later) {
      send_refusal_later(scope, call, result);
    } else {
      send_refusal(scope, call, result);
    }
    return false;
  }
  if (scope.comm == nullptr || (!scope.comm->is_inter && scope.comm->size() == 1)) return true;
  mpi::CollectiveCall mine(call.name());
  CallReader reader(mine, scope);
  (reader.read(wrappers), ...);
  if constexpr (comparison == Comparison::later) {
    library.schedules->announced.reset(new (std::nothrow) mpi::CollectiveCall(mine));
    return true;
  }
  auto& comm = const_cast<mpi::Comm&>(*scope.comm);
  const base::Error error = mine.compare(comm);
  if (error.ok()) return true;
  result = fail(library, call, scope.target, error);
  return false;
}

/// `take_part` where MPI still runs.
template <auto implementation, class... Wrappers>
[[gnu::cold, gnu::noinline]] void take_part_after_error(Call call, Wrappers... wrappers) {
  mpi::Library* library = usable_library();
  if (library == nullptr) library = traced_library();
  if (library != nullptr) take_part<implementation>(*library, call, wrappers...);
}

/// `entry` for blocking collective calls.
template <auto implementation, class... Wrappers>
[[gnu::always_inline]] inline int collective_entry(Call call, Wrappers... wrappers) {
  mpi::Library* library = usable_library();
  if (library == nullptr) [[unlikely]]
    library = traced_library();
  if (library != nullptr && library->world->compares_calls) [[unlikely]] {
    int result = MPI_SUCCESS;
    if (!agrees<Comparison::now>(*library, call, result, wrappers...)) return result;
  }
  const int result = entry<implementation>(call, wrappers...);
  if (result != MPI_SUCCESS) [[unlikely]]
    take_part_after_error<implementation>(call, wrappers...);
  return result;
}

/// `entry` for those that make a request, which compares when it is started.
template <auto implementation, class... Wrappers>
[[gnu::always_inline]] inline int announced_entry(Call call, Wrappers... wrappers) {
  mpi::Library* library = usable_library();
  if (library == nullptr) [[unlikely]]
    library = traced_library();
  if (library != nullptr && library->world->compares_calls) [[unlikely]] {
    const base::EngineGuard guard(library->lock);
    int result = MPI_SUCCESS;
    if (!agrees<Comparison::later>(*library, call, result, wrappers...)) return result;
    result = entry<implementation>(call, wrappers...);
    if (result != MPI_SUCCESS) take_part_after_error<implementation>(call, wrappers...);
    library->schedules->announced.reset();  // where the call failed
    return result;
  }
  const int result = entry<implementation>(call, wrappers...);
  if (result != MPI_SUCCESS) [[unlikely]]
    take_part_after_error<implementation>(call, wrappers...);
  return result;
}

}  // namespace fulmar::api
