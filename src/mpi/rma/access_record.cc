// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/access_record.h"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <span>
#include <string>

#include "mpi/datatype/view.h"
#include "mpi/op/op.h"
#include "mpi/rma/server/accumulate.h"

namespace fulmar::mpi {
namespace {

using base::Error;
using base::ErrorClass;
using wire::RmaAccess;
using wire::RmaCall;

RmaCall call_of(const RmaAccess& access) noexcept { return static_cast<RmaCall>(access.call); }

bool accumulates(const RmaAccess& access) noexcept {
  const RmaCall call = call_of(access);
  return call == RmaCall::accumulate || call == RmaCall::get_accumulate ||
         call == RmaCall::compare_and_swap;
}

bool only_fetches(const RmaAccess& access) noexcept {
  return call_of(access) == RmaCall::get_accumulate &&
         access.op == static_cast<std::uint8_t>(OpCode::no_op);
}

bool only_reads(const RmaAccess& access) noexcept {
  return call_of(access) == RmaCall::get || only_fetches(access);
}

/// Accumulates are ordered if they are of one origin, and atomic if they are of one operation (or
/// fetch alone) and type: what the info key accumulate_ops demands by default.
bool can_accumulate_together(const RmaAccess& a, const RmaAccess& b) noexcept {
  if (a.origin == b.origin) return true;
  if (a.element != 0 && b.element != 0 && a.element != b.element) return false;
  const bool swaps =
      call_of(a) == RmaCall::compare_and_swap || call_of(b) == RmaCall::compare_and_swap;
  return swaps || only_fetches(a) || only_fetches(b) || a.op == b.op;
}

/// Accesses of different epochs of MPI_Win_fence do not: those of the last one may still be there.
bool conflict(const RmaAccess& a, const RmaAccess& b) noexcept {
  if (a.begin >= b.end || b.begin >= a.end) return false;
  if (((a.flags ^ b.flags) & wire::rma_odd_fence) != 0) return false;
  if (only_reads(a) && only_reads(b)) return false;
  return !accumulates(a) || !accumulates(b) || !can_accumulate_together(a, b);
}

/// An access that its origin completes by a request of its own leaves nothing behind when it is over.
bool is_over_at_once(const RmaAccess& access) noexcept {
  return call_of(access) == RmaCall::get && (access.flags & wire::rma_with_request) != 0;
}

/// Goes on where the last one ended: a loop over neighbouring elements is one access.
bool continues(const RmaAccess& last, const RmaAccess& next) noexcept {
  return last.end == next.begin && last.origin == next.origin && last.call == next.call &&
         last.op == next.op && last.flags == next.flags && last.element == next.element;
}

const char* name_of_call(const RmaAccess& access) noexcept {
  const bool with_request = (access.flags & wire::rma_with_request) != 0;
  switch (call_of(access)) {
    case RmaCall::put:
      return with_request ? "MPI_Rput" : "MPI_Put";
    case RmaCall::get:
      return with_request ? "MPI_Rget" : "MPI_Get";
    case RmaCall::accumulate:
      return with_request ? "MPI_Raccumulate" : "MPI_Accumulate";
    case RmaCall::get_accumulate:
      if ((access.flags & wire::rma_one_element) != 0) return "MPI_Fetch_and_op";
      return with_request ? "MPI_Rget_accumulate" : "MPI_Get_accumulate";
    case RmaCall::compare_and_swap:
      return "MPI_Compare_and_swap";
    default:
      return "an operation";
  }
}

/// "MPI_Put by rank 1 (its operation 3 on rank 0) on bytes 8 to 16"
std::string text_of(const Win& win, int target, const RmaAccess& access) {
  std::string text = name_of_call(access);
  const RmaCall call = call_of(access);
  const Op* op = call == RmaCall::accumulate || call == RmaCall::get_accumulate
                     ? predefined_op(*win.library, access.op)
                     : nullptr;
  if (op != nullptr) text += std::string(" with ") + op->name;
  const auto* element =
      access.element != 0 ? win.library->find<Datatype>(std::uintptr_t{access.element}) : nullptr;
  if (op != nullptr && element != nullptr && !element->name.empty()) {
    text += " of " + std::string(element->name);
  }
  text += " by rank " + std::to_string(access.origin) + " (its operation " +
          std::to_string(access.number) + " on rank " + std::to_string(target) + ") on ";
  std::array<char, 80> range;
  std::snprintf(range.data(), range.size(),
                win.dynamic() ? "addresses 0x%llx to 0x%llx" : "bytes %lld to %lld",
                static_cast<long long>(access.begin), static_cast<long long>(access.end));
  return text + range.data();
}

}  // namespace

RmaWatch::RmaWatch() = default;
RmaWatch::~RmaWatch() = default;

std::optional<wire::RmaConflict> AccessRecord::add(RmaAccess access, std::int64_t place,
                                                   std::int64_t count, const Datatype& type) {
  if (numbers_.size() <= access.origin) numbers_.resize(std::size_t{access.origin} + 1);
  access.number = ++numbers_[access.origin];
  std::optional<wire::RmaConflict> found;
  const auto note = [&](RmaAccess& run) {
    for (const RmaAccess& other : accesses_) {
      const bool same = other.origin == run.origin && other.number == run.number;
      if (found || same || !conflict(run, other)) continue;
      found = {run, other};
    }
    if (!is_over_at_once(run)) keep(run);
  };
  const View view(type, count);
  std::array<iovec, most_runs> runs;
  const std::size_t run_count =
      view.segments(reinterpret_cast<const void*>(place), 0, view.bytes(), runs);
  std::uint64_t bytes = 0;
  access.begin = access.end = 0;
  for (const iovec& run : std::span(runs).first(run_count)) {
    const auto begin = reinterpret_cast<std::int64_t>(run.iov_base);
    bytes += run.iov_len;
    if (begin != access.end || access.begin == access.end) {
      if (access.begin != access.end) note(access);
      access.begin = begin;
    }
    access.end = begin + static_cast<std::int64_t>(run.iov_len);
  }
  if (access.begin != access.end) note(access);
  if (bytes < view.bytes()) ++left_out_;
  return found;
}

void AccessRecord::keep(const RmaAccess& access) {
  if (!accesses_.empty() && continues(accesses_.back(), access)) {
    accesses_.back().end = access.end;
  } else if (accesses_.size() < most_accesses) {
    accesses_.push_back(access);
  } else {
    ++left_out_;
  }
}

void AccessRecord::forget(int origin, Which which) noexcept {
  std::erase_if(accesses_, [&](const RmaAccess& access) {
    return access.origin == static_cast<std::uint32_t>(origin) &&
           (which == Which::all || call_of(access) == RmaCall::get);
  });
}

void AccessRecord::forget_fence(std::uint8_t parity) noexcept {
  std::erase_if(accesses_, [&](const RmaAccess& access) {
    return (access.flags & wire::rma_odd_fence) == parity;
  });
}

RmaAccess access_of(const wire::RmaHeader& header, int origin) noexcept {
  RmaAccess access{};
  access.origin = static_cast<std::uint32_t>(origin);
  access.call = header.call;
  access.op = header.op;
  access.flags =
      header.flags & (wire::rma_odd_fence | wire::rma_with_request | wire::rma_one_element);
  access.element = header.element != 0 ? header.element : header.type;
  return access;
}

Error check_own_access(Win& win, const wire::RmaHeader& header, const Datatype& type) {
  const auto found =
      win.watch.check->record.add(access_of(header, win.rank()), header.place, header.count, type);
  if (!found) return {};
  return conflict_error(win, win.rank(), ErrorClass::rma_conflict, *found);
}

Error conflict_error(const Win& win, int target, ErrorClass error_class,
                     const wire::RmaConflict& conflict) {
  const std::string later = text_of(win, target, conflict.later);
  if (static_cast<RmaCall>(conflict.earlier.call) == RmaCall::none) {
    return base::failure(error_class, "%s of rank %d in %s was refused there (FULMAR_CHECK=rma)",
                         later.c_str(), target, name_of(win));
  }
  const std::string earlier = text_of(win, target, conflict.earlier);
  return base::failure(
      error_class,
      "%s of rank %d in %s conflicts with %s: nothing has ordered them; separate them by "
      "synchronisation, or use accumulates of one operation and type (FULMAR_CHECK=rma)",
      later.c_str(), target, name_of(win), earlier.c_str());
}

void order_accesses(Win& win, int origin, std::uint8_t flags) noexcept {
  if (win.watch.check == nullptr || (flags & wire::rma_flush_shared) != 0) return;
  const bool reads = (flags & wire::rma_flush_reads) != 0;
  win.watch.check->record.forget(origin,
                                 reads ? AccessRecord::Which::reads : AccessRecord::Which::all);
}

}  // namespace fulmar::mpi
