// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <cstring>
#include <limits>
#include <vector>

#include "base/copy.h"
#include "mpi/datatype/view.h"
#include "mpi/op/op.h"
#include "mpi/request/request.h"
#include "mpi/rma/adapter.h"
#include "mpi/rma/agent.h"
#include "mpi/rma/calls.h"
#include "mpi/rma/new_request.h"
#include "mpi/rma/node/node_access.h"
#include "mpi/rma/range.h"
#include "mpi/rma/requests.h"
#include "mpi/rma/server/accumulate.h"
#include "mpi/rma/sync/epochs.h"
#include "mpi/rma/sync/lock_queue.h"

/// The operations (MPI 5.0 section 12.3). Each first looks for the straight way: an open target whose
/// memory is mapped here, and data that are one run on both sides. All others are checked in words
/// and then done here, or asked of the target.
namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;
using wire::RmaCall;

/// More than any window has where the product is no number.
std::int64_t bytes_of(Count count, const Datatype& type) noexcept {
  std::int64_t product = 0;
  return __builtin_mul_overflow(count, type.size, &product)
             ? std::numeric_limits<std::int64_t>::max()
             : product;
}
std::int64_t bytes_of(const ConstData& data) noexcept { return bytes_of(data.count, *data.type); }
std::int64_t bytes_of(const Data& data) noexcept { return bytes_of(data.count, *data.type); }

/// The elements at the target that an operation names.
struct TargetData {
  int rank;
  MPI_Aint displacement;
  Count count;
  const Datatype* type;

  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_of(count, *type); }
};

/// Where they are, once they have been checked.
struct Place {
  std::int64_t bytes = 0;   ///< from the base, or the address in a dynamic window
  void* address = nullptr;  ///< in this process; null: only the target reaches it
};

/// A run of `bytes` bytes of an open target that is mapped; nullptr where it takes a closer look.
[[gnu::always_inline]] inline std::byte* straight_place(const RmaTarget& target,
                                                        MPI_Aint displacement,
                                                        std::int64_t bytes) noexcept {
  std::int64_t begin = 0;
  if (!target.open || !target.direct || target.memory == nullptr ||
      __builtin_mul_overflow(displacement, target.unit, &begin)) [[unlikely]] {
    return nullptr;
  }
  if (begin < 0 || bytes > target.size || begin > target.size - bytes) [[unlikely]]
    return nullptr;
  return target.memory + begin;
}

Error out_of_range(const Win& win, const TargetData& data) {
  const RmaTarget& target = win.targets[static_cast<std::size_t>(data.rank)];
  if (win.dynamic()) {
    return failure(ErrorClass::rma_range,
                   "argument target_disp: memory at address 0x%llx is not attached to %s",
                   static_cast<unsigned long long>(data.displacement), name_of(win));
  }
  return failure(
      ErrorClass::rma_range,
      "argument target_disp: %lld elements at %lld times %lld bytes leave the %lld bytes "
      "of rank %d in %s",
      static_cast<long long>(data.count), static_cast<long long>(data.displacement),
      static_cast<long long>(target.unit), static_cast<long long>(target.size), data.rank,
      name_of(win));
}

/// Checks epoch and range, and finds the place. What lies in a dynamic window of another rank only
/// that rank knows.
Error find_place(Win& win, const TargetData& data, Place& place) {
  RmaTarget& target = win.target(data.rank);
  if (!target.open) {
    if (const Error bad = open_target(win, data.rank); bad.failed()) return bad;
  }
  if (data.displacement < 0 && !win.dynamic()) {
    return failure(ErrorClass::disp, "argument target_disp: %lld is negative",
                   static_cast<long long>(data.displacement));
  }
  std::int64_t room = 0;
  if (__builtin_mul_overflow(data.displacement, target.unit, &place.bytes) ||
      __builtin_mul_overflow(data.count, data.type->size, &room)) {
    return out_of_range(win, data);
  }
  const bool is_own = data.rank == win.rank();
  const bool known = is_own || !win.dynamic();
  const bool good = known ? is_in_window(win, target, place.bytes, data.count, *data.type)
                          : touched_bytes(place.bytes, data.count, *data.type).has_value();
  if (!good) return out_of_range(win, data);
  if (is_own) {
    place.address = win.dynamic() ? reinterpret_cast<void*>(place.bytes)
                                  : static_cast<std::byte*>(win.base) + place.bytes;
  } else if (target.direct) {
    place.address = target.memory + place.bytes;
  }
  return {};
}

Error too_long(std::int64_t bytes, std::int64_t room, const char* where) {
  return failure(ErrorClass::truncate, "%lld bytes of data do not fit the %lld bytes of %s",
                 static_cast<long long>(bytes), static_cast<long long>(room), where);
}

RmaRequest request_for(RmaCall call, const TargetData& data, const Place& place) {
  RmaRequest request;
  request.header.call = static_cast<std::uint8_t>(call);
  request.header.place = place.bytes;
  request.header.count = data.count;
  request.type = data.type;
  return request;
}

[[gnu::noinline]] Error put_slow(Win& win, const ConstData& origin, const TargetData& data,
                                 MPI_Request* out) {
  const NewRequest made(win, out);
  if (data.rank == MPI_PROC_NULL) return made.done();
  Place place;
  if (const Error bad = find_place(win, data, place); bad.failed()) return bad;
  const std::int64_t bytes = bytes_of(origin);
  if (bytes > data.bytes()) return too_long(bytes, data.bytes(), "the target");
  if (place.address != nullptr) {
    move_elements(origin, {place.address, data.count, data.type});
    return made.done(request_for(RmaCall::put, data, place));
  }
  if (bytes == 0) return made.done();
  bool done = false;
  if (data.type->contiguous) {
    const Error bad = put_on_node(win, origin, {data.rank, place.bytes, bytes}, done);
    if (bad.failed()) return bad;
    if (done) return made.done();
  }
  const AdapterPlace remote{data.rank, place.bytes, data.count, data.type};
  if (const Error failed = put_by_adapter(win, origin, bytes, remote, out, done); failed.failed()) {
    return failed;
  }
  if (done) return {};
  RmaRequest request = request_for(RmaCall::put, data, place);
  request.header.bytes = static_cast<std::uint64_t>(bytes);
  request.data = origin;
  return made.start(data.rank, request);
}

[[gnu::noinline]] Error get_slow(Win& win, const Data& origin, const TargetData& data,
                                 MPI_Request* out) {
  const NewRequest made(win, out);
  if (data.rank == MPI_PROC_NULL) return made.done();
  Place place;
  if (const Error bad = find_place(win, data, place); bad.failed()) return bad;
  const std::int64_t bytes = data.bytes();
  if (bytes > bytes_of(origin)) return too_long(bytes, bytes_of(origin), "the origin");
  if (place.address != nullptr) {
    move_elements({place.address, data.count, data.type}, origin);
    return made.done(request_for(RmaCall::get, data, place));
  }
  if (bytes == 0) return made.done();
  bool done = false;
  if (data.type->contiguous) {
    const Error bad = get_on_node(win, origin, {data.rank, place.bytes, bytes}, done);
    if (bad.failed()) return bad;
    if (done) return made.done();
  }
  const AdapterPlace remote{data.rank, place.bytes, data.count, data.type};
  if (const Error failed = get_by_adapter(win, origin, bytes, remote, out, done); failed.failed()) {
    return failed;
  }
  if (done) return {};
  RmaRequest request = request_for(RmaCall::get, data, place);
  request.result = origin;
  request.result_bytes = static_cast<std::uint64_t>(bytes);
  return made.start(data.rank, request);
}

/// What accumulates read and where they leave what was there before.
struct Accumulation {
  ConstData origin;  ///< type null: nothing is read
  Data result;       ///< type null: not wanted
  const Op* op;
  bool is_fetch_and_op = false;
};

/// The elements of both sides, if they agree.
Error check_elements(const Win& win, const Accumulation& what, const TargetData& data,
                     const Datatype*& element) {
  element = element_type(*win.library, *data.type);
  if (const Error bad = check_accumulate(*what.op, element); bad.failed()) return bad;
  if (what.op->code == OpCode::replace || what.op->code == OpCode::no_op) return {};
  if (element_type(*win.library, *what.origin.type) == element) return {};
  return failure(
      ErrorClass::type,
      "arguments origin_datatype and target_datatype: %s needs the same elements on both "
      "sides",
      what.op->name);
}

void accumulate_here(Win& win, const Accumulation& what, const TargetData& data,
                     const Datatype* element, void* address) {
  std::vector<std::byte> room;
  std::span<const std::byte> source;
  if (what.origin.type != nullptr) source = packed_bytes(what.origin, room);
  const AccumulateGuard guard(win, *win.target(data.rank).control);
  if (what.result.type != nullptr) move_elements({address, data.count, data.type}, what.result);
  accumulate_data(*what.op, element, source, {address, data.count, data.type});
}

/// Whether an accumulate may have this operation at all, whatever its elements are.
Error check_op(const Accumulation& what) {
  const bool fetches = what.result.type != nullptr;
  if (what.op->code == OpCode::no_op && !fetches) {
    return failure(ErrorClass::op,
                   "argument op: MPI_NO_OP is for calls that fetch; use MPI_Get_accumulate or "
                   "MPI_Fetch_and_op");
  }
  return what.op->code == OpCode::user ? check_accumulate(*what.op, nullptr) : Error{};
}

[[gnu::noinline]] Error accumulate_slow(Win& win, const Accumulation& what, const TargetData& data,
                                        MPI_Request* out) {
  const NewRequest made(win, out);
  if (const Error bad = check_op(what); bad.failed()) return bad;
  if (data.rank == MPI_PROC_NULL) return made.done();
  Place place;
  if (const Error bad = find_place(win, data, place); bad.failed()) return bad;
  const Datatype* element = nullptr;
  if (data.bytes() != 0) {
    if (const Error bad = check_elements(win, what, data, element); bad.failed()) return bad;
  }
  const std::int64_t bytes = what.origin.type == nullptr ? 0 : bytes_of(what.origin);
  if (bytes > data.bytes()) return too_long(bytes, data.bytes(), "the target");
  const bool fetches = what.result.type != nullptr;
  if (fetches && data.bytes() > bytes_of(what.result)) {
    return too_long(data.bytes(), bytes_of(what.result), "the result");
  }
  if (data.bytes() == 0) return made.done();
  bool taken = false;
  const AdapterPlace remote{data.rank, place.bytes, data.count, data.type};
  const Error bad =
      accumulate_by_adapter(win, {what.op, element, what.origin, what.result}, remote, out, taken);
  if (taken || bad.failed()) return bad;
  RmaRequest request =
      request_for(fetches ? RmaCall::get_accumulate : RmaCall::accumulate, data, place);
  name_element(request.header, *what.op, element);
  if (win.watch.check != nullptr && what.is_fetch_and_op)
    request.header.flags = wire::rma_one_element;
  if (place.address != nullptr) {
    accumulate_here(win, what, data, element, place.address);
    return made.done(request);
  }
  if (!fetches && bytes == 0) return made.done();
  request.header.bytes = static_cast<std::uint64_t>(bytes);
  if (bytes != 0) request.data = what.origin;
  request.result = what.result;
  request.result_bytes = fetches ? static_cast<std::uint64_t>(data.bytes()) : 0;
  if (data.type->contiguous) {
    bool done = false;
    const NodeAccumulate node{
        what.op, element, request.header.element, request.header.second, what.origin, what.result};
    const TargetRun run{data.rank, place.bytes, fetches ? data.bytes() : bytes};
    const Error failed = accumulate_on_node(win, node, run, done);
    if (failed.failed()) return failed;
    if (done) return made.done();
  }
  return made.start(data.rank, request);
}

/// The origin's arguments of a get_accumulate, of which MPI_NO_OP uses none.
Error check_origin(const void* address, Count count, const Datatype* type, const Op& op,
                   ConstData& origin) {
  if (op.code == OpCode::no_op) return {};
  if (type == nullptr || !type->committed) {
    return failure(ErrorClass::type, "argument origin_datatype: %s",
                   type == nullptr ? "MPI_DATATYPE_NULL is allowed with MPI_NO_OP only"
                                   : "the datatype is not committed; call MPI_Type_commit first");
  }
  if (address == nullptr && type->predefined && count != 0) {
    return failure(ErrorClass::buffer, "argument origin_addr: null pointer");
  }
  origin = {address, count, type};
  return {};
}

Error get_accumulate_with(const void* origin, Count origin_count, const Datatype* origin_type,
                          Accumulation what, const TargetData& data, Win& win, MPI_Request* out) {
  const Error bad = check_origin(origin, origin_count, origin_type, *what.op, what.origin);
  if (bad.failed()) return bad;
  return accumulate_slow(win, what, data, out);
}

/// Operations with a request are for passive target epochs (MPI 5.0 section 12.3.5).
Error check_request(const Win& win, int target, const char* call) {
  return target == MPI_PROC_NULL ? Error{} : check_passive(win, call);
}

Error null_buffer(const char* argument) {
  return failure(ErrorClass::buffer, "argument %s: null pointer to one element", argument);
}

constexpr std::size_t most_swap_bytes = 16;

void swap_here(Win& win, wire::RmaControl& control, void* address, const void* origin,
               const void* compare, void* result, std::size_t bytes) noexcept {
  std::byte old[most_swap_bytes];
  {
    const AccumulateGuard guard(win, control);
    std::memcpy(old, address, bytes);
    if (std::memcmp(old, compare, bytes) == 0) std::memcpy(address, origin, bytes);
  }
  std::memcpy(result, old, bytes);
}

/// The straight way of accumulates: elements of one predefined type, one run of a target that is
/// mapped, and an operation that is defined for them. `result` may be null. False: nothing was done.
[[gnu::always_inline]] inline bool accumulate_straight(Win& win, const void* origin, void* result,
                                                       const TargetData& data, const Op& op) {
  const Datatype& type = *data.type;
  const bool plain = type.basic != nullptr && type.contiguous && data.count > 0 &&
                     type.basic->logical_values == nullptr;
  if (data.rank == MPI_PROC_NULL || !plain) [[unlikely]]
    return false;
  const RmaTarget& target = win.target(data.rank);
  std::byte* place = straight_place(target, data.displacement, data.bytes());
  const bool computes = op.code <= OpCode::maxloc;
  const Kernel kernel = computes ? find_kernel(op.code, *type.basic) : nullptr;
  const bool reads = op.code != OpCode::no_op;
  if (place == nullptr || op.code == OpCode::user || (computes && kernel == nullptr) ||
      (reads ? origin == nullptr : result == nullptr)) [[unlikely]] {
    return false;
  }
  const auto bytes = static_cast<std::size_t>(data.bytes());
  const AccumulateGuard guard(win, *target.control);
  if (result != nullptr) base::copy_bytes(result, place, bytes);
  if (computes) {
    kernel(origin, place, place, data.count);
  } else if (reads) {
    base::copy_bytes(place, origin, bytes);
  }
  return true;
}

}  // namespace

Error put(const ConstData& origin, int target, MPI_Aint displacement, Count count, Datatype& type,
          Win& win) {
  const TargetData data{target, displacement, count, &type};
  if (target != MPI_PROC_NULL && origin.type->contiguous && type.contiguous) [[likely]] {
    const std::int64_t bytes = bytes_of(origin);
    std::byte* place = straight_place(win.target(target), displacement, bytes);
    if (place != nullptr && bytes == data.bytes()) [[likely]] {
      base::copy_bytes(place, origin.address, static_cast<std::size_t>(bytes));
      return {};
    }
  }
  return put_slow(win, origin, data, nullptr);
}

Error get(const Data& origin, int target, MPI_Aint displacement, Count count, Datatype& type,
          Win& win) {
  const TargetData data{target, displacement, count, &type};
  if (target != MPI_PROC_NULL && origin.type->contiguous && type.contiguous) [[likely]] {
    const std::int64_t bytes = bytes_of(origin);
    const std::byte* place = straight_place(win.target(target), displacement, bytes);
    if (place != nullptr && bytes == data.bytes()) [[likely]] {
      base::copy_bytes(origin.address, place, static_cast<std::size_t>(bytes));
      return {};
    }
  }
  return get_slow(win, origin, data, nullptr);
}

Error accumulate(const ConstData& origin, int target, MPI_Aint displacement, Count count,
                 Datatype& type, Op& op, Win& win) {
  const TargetData data{target, displacement, count, &type};
  if (origin.type == &type && origin.count == count) [[likely]] {
    if (accumulate_straight(win, origin.address, nullptr, data, op)) return {};
  }
  return accumulate_slow(win, {origin, {}, &op}, data, nullptr);
}

Error get_accumulate(const void* origin, Count origin_count, Datatype* origin_type,
                     const Data& result, int target, MPI_Aint displacement, Count count,
                     Datatype& type, Op& op, Win& win) {
  return get_accumulate_with(origin, origin_count, origin_type, {{}, result, &op},
                             {target, displacement, count, &type}, win, nullptr);
}

Error fetch_and_op(const void* origin, void* result, Datatype& type, int target,
                   MPI_Aint displacement, Op& op, Win& win) {
  if (type.basic == nullptr) {
    return failure(ErrorClass::type, "argument datatype: only predefined datatypes are allowed");
  }
  if (result == nullptr) return null_buffer("result_addr");
  const TargetData data{target, displacement, 1, &type};
  if (accumulate_straight(win, origin, result, data, op)) return {};
  return get_accumulate_with(origin, 1, &type, {{}, {result, 1, &type}, &op, true}, data, win,
                             nullptr);
}

Error compare_and_swap(const void* origin, const void* compare, void* result, Datatype& type,
                       int target, MPI_Aint displacement, Win& win) {
  if (!can_be_compared(type)) {
    return failure(ErrorClass::type,
                   "argument datatype: %s cannot be compared; integers, logicals and bytes can",
                   type.name.empty() ? "the datatype" : type.name.c_str());
  }
  if (origin == nullptr) return null_buffer("origin_addr");
  if (compare == nullptr) return null_buffer("compare_addr");
  if (result == nullptr) return null_buffer("result_addr");
  if (target == MPI_PROC_NULL) return {};
  const auto bytes = static_cast<std::size_t>(type.size);
  std::byte* straight = straight_place(win.target(target), displacement, type.size);
  const TargetData data{target, displacement, 1, &type};
  Place place{0, straight};
  if (straight == nullptr) {
    if (const Error bad = find_place(win, data, place); bad.failed()) return bad;
    bool taken = false;
    const Error bad = accumulate_by_adapter(
        win, {nullptr, &type, {origin, 1, &type}, {result, 1, &type}, compare},
        {target, place.bytes, 1, &type}, nullptr, taken);
    if (taken || bad.failed()) return bad;
  }
  if (place.address != nullptr) {
    swap_here(win, *win.target(target).control, place.address, origin, compare, result, bytes);
    if (straight != nullptr) [[likely]]
      return {};
    return NewRequest(win, nullptr).done(request_for(RmaCall::compare_and_swap, data, place));
  }
  std::byte both[2 * most_swap_bytes];
  std::memcpy(both, compare, bytes);
  std::memcpy(both + bytes, origin, bytes);
  bool done = false;
  const TargetRun run{target, place.bytes, type.size};
  const Error bad = swap_on_node(win, std::span(both).first(2 * bytes), result, run, done);
  if (done || bad.failed()) return bad;
  RmaRequest request = request_for(RmaCall::compare_and_swap, data, place);
  request.header.bytes = 2 * bytes;
  request.packed = std::span(both).first(2 * bytes);
  request.result = {result, 1, &type};
  request.result_bytes = bytes;
  return NewRequest(win, nullptr).start(target, request);
}

Error rput(const ConstData& origin, int target, MPI_Aint displacement, Count count, Datatype& type,
           Win& win, MPI_Request& request) {
  if (const Error bad = check_request(win, target, "MPI_Rput"); bad.failed()) return bad;
  return put_slow(win, origin, {target, displacement, count, &type}, &request);
}

Error rget(const Data& origin, int target, MPI_Aint displacement, Count count, Datatype& type,
           Win& win, MPI_Request& request) {
  if (const Error bad = check_request(win, target, "MPI_Rget"); bad.failed()) return bad;
  return get_slow(win, origin, {target, displacement, count, &type}, &request);
}

Error raccumulate(const ConstData& origin, int target, MPI_Aint displacement, Count count,
                  Datatype& type, Op& op, Win& win, MPI_Request& request) {
  if (const Error bad = check_request(win, target, "MPI_Raccumulate"); bad.failed()) return bad;
  return accumulate_slow(win, {origin, {}, &op}, {target, displacement, count, &type}, &request);
}

Error rget_accumulate(const void* origin, Count origin_count, Datatype* origin_type,
                      const Data& result, int target, MPI_Aint displacement, Count count,
                      Datatype& type, Op& op, Win& win, MPI_Request& request) {
  if (const Error bad = check_request(win, target, "MPI_Rget_accumulate"); bad.failed()) return bad;
  return get_accumulate_with(origin, origin_count, origin_type, {{}, result, &op},
                             {target, displacement, count, &type}, win, &request);
}

}  // namespace fulmar::mpi
