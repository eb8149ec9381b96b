// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <optional>

#include "sisci/api.h"
#include "sisci/call.h"
#include "sisci/connections.h"
#include "sisci/grants.h"

/// What interrupts without and with data have in common.
namespace fulmar::sisci {

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

/// Waits for its callback. Connections end with the last one of the number.
void remove_interrupt(Library& library, LocalInterrupt& interrupt);
void remove_interrupt(Library& library, LocalDataInterrupt& interrupt);

}  // namespace fulmar::sisci
