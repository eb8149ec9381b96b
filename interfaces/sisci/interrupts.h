// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/connections.h"
#include "sisci/grants.h"

/// What interrupts without and with data have in common.
namespace fulmar::sisci {

/// Waits for its callback. Connections end with the last one of the number.
void remove_interrupt(Library& library, LocalInterrupt& interrupt);
void remove_interrupt(Library& library, LocalDataInterrupt& interrupt);

/// The number that is asked for, or a free one above those that programs choose; nothing where it is taken.
template <class IsFree>
[[nodiscard]] std::optional<std::uint32_t> choose_number(unsigned int flags, std::uint32_t wanted,
                                                         IsFree&& is_free) {
  if ((flags & SCI_FLAG_FIXED_INTNO) != 0) {
    return is_free(wanted) ? std::optional(wanted) : std::nullopt;
  }
  std::uint32_t number = 0x80000000U;
  while (!is_free(number)) ++number;
  return number;
}

constexpr std::uint32_t interrupt_flags =
    SCI_FLAG_USE_CALLBACK | SCI_FLAG_FIXED_INTNO | SCI_FLAG_SHARED_INT | SCI_FLAG_COUNTING_INT;

/// Whether it is known by its number, not by a word of a segment.
[[nodiscard]] inline bool has_number(const LocalInterrupt& each) noexcept {
  return each.segment == nullptr;
}
[[nodiscard]] inline bool has_number(const LocalDataInterrupt& /*each*/) noexcept { return true; }

/// Whether no interrupt of this kind has the number, or those that do share it with one that `shares`.
template <class Local>
[[nodiscard]] bool is_free(const Pool<Local>& pool, std::uint32_t number, bool shares) noexcept {
  return std::ranges::none_of(pool.all(), [&](const auto& each) {
    const Local& other = *each.second;
    return has_number(other) && other.number == number && !(shares && other.is_shared);
  });
}

/// What SCICreateInterrupt and SCICreateDataInterrupt are called with.
template <class Callback>
struct Creation {
  sci_desc_t descriptor;
  unsigned int adapter;
  unsigned int* number;
  Callback callback;
  void* argument;
  unsigned int flags;
};

/// `refused`: flags that this kind does not have.
template <class Local, class Callback, class Handle>
[[nodiscard]] sci_error_t create_interrupt(Library& library, Pool<Local>& pool,
                                           const Creation<Callback>& wanted, std::uint32_t refused,
                                           Handle* handle) {
  Descriptor* const descriptor = library.descriptors.find(wanted.descriptor);
  const bool uses_callback = (wanted.flags & SCI_FLAG_USE_CALLBACK) != 0;
  const bool is_shared = (wanted.flags & SCI_FLAG_SHARED_INT) != 0;
  const sci_error_t status = first_error(
      check_flags(wanted.flags, interrupt_flags, refused),
      check_parameter(descriptor != nullptr && handle != nullptr && wanted.number != nullptr &&
                      (wanted.callback != nullptr || !uses_callback)),
      check_adapter(wanted.adapter));
  if (status != SCI_ERR_OK) return status;
  const auto number = choose_number(wanted.flags, *wanted.number, [&](std::uint32_t each) {
    return is_free(pool, each, is_shared);
  });
  if (!number) return SCI_ERR_INTNO_USED;
  Local& made = make(pool, *descriptor);
  made.number = *number;
  made.is_shared = is_shared;
  made.is_counting = (wanted.flags & SCI_FLAG_COUNTING_INT) != 0;
  made.uses_callback = uses_callback;
  made.callback = wanted.callback;
  made.argument = wanted.argument;
  *wanted.number = *number;
  *handle = handle_of<Handle>(made);
  return SCI_ERR_OK;
}

/// SCIRemoveInterrupt, SCIRemoveDataInterrupt.
template <class Local>
[[nodiscard]] sci_error_t remove_interrupt(Library& library, Pool<Local>& pool, const void* handle,
                                           unsigned int flags) {
  Local* const found = pool.find(handle);
  const sci_error_t status = first_error(check_flags(flags, 0), check_parameter(found != nullptr));
  if (status == SCI_ERR_OK) remove_interrupt(library, *found);
  return status;
}

/// One whose callback has ended. Connections end with the last one of the number.
template <class Local>
void remove_last(Library& library, Pool<Local>& pool, Local& interrupt, wire::SisciObject object) {
  const std::uint32_t number = interrupt.number;
  const bool is_numbered = has_number(interrupt);
  remove(pool, interrupt);
  if (is_numbered && is_free(pool, number, false)) end_grants(library, object, number);
  library.port->notify();
}

struct Wanted {
  sci_desc_t descriptor;
  std::uint32_t node;
  std::uint32_t adapter;
  std::uint32_t number;
  std::uint32_t timeout_ms;
  unsigned int flags;
};

/// SCIConnectInterrupt, SCIConnectDataInterrupt.
template <class Remote, class Handle>
[[nodiscard]] sci_error_t connect_interrupt(Library& library, Pool<Remote>& pool,
                                            wire::SisciObject object, const Wanted& wanted,
                                            Handle* handle) {
  Descriptor* const descriptor = library.descriptors.find(wanted.descriptor);
  std::uint32_t rank = 0;
  sci_error_t status =
      first_error(check_flags(wanted.flags, 0, SCI_FLAG_BROADCAST),
                  check_parameter(descriptor != nullptr && handle != nullptr),
                  check_adapter(wanted.adapter), find_node(library, wanted.node, rank));
  if (status != SCI_ERR_OK) return status;
  Remote& made = make(pool, *descriptor);
  status = SCI_ERR_NOSPC;
  if (ask(library, made, rank, object, wanted.number)) {
    status = wait_for(library, pool, made, wanted.timeout_ms,
                      [](const Remote& each) { return is_settled(each); });
    if (status == SCI_ERR_CANCELLED) return status;
    if (status == SCI_ERR_OK) status = made.status;
  }
  if (status == SCI_ERR_OK) {
    *handle = handle_of<Handle>(made);
    return status;
  }
  close(library, made);
  remove(pool, made);
  return status;
}

/// SCIDisconnectInterrupt, SCIDisconnectDataInterrupt.
template <class Remote, class Handle>
[[nodiscard]] sci_error_t disconnect_interrupt(Library& library, Pool<Remote>& pool, Handle handle,
                                               unsigned int flags) {
  Remote* const found = pool.find(handle);
  const sci_error_t status = first_error(check_flags(flags, 0), check_parameter(found != nullptr));
  if (status != SCI_ERR_OK) return status;
  close(library, *found);
  remove(pool, *found);
  return SCI_ERR_OK;
}

}  // namespace fulmar::sisci
