// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "vipl/provider.h"

/// What the functions of the C interface have in common.
namespace fulmar::vipl {

/// The objects of each kind.
inline auto& all(Provider& provider, const Nic*) noexcept { return provider.nics; }
inline auto& all(Provider& provider, const Vi*) noexcept { return provider.vis; }
inline auto& all(Provider& provider, const Cq*) noexcept { return provider.cqs; }
inline auto& all(Provider& provider, const Arrived*) noexcept { return provider.connections; }

/// Runs body(Provider&, Lock&, T&) with the lock held, for the object of this handle.
template <class T, class Body>
VIP_RETURN call(const void* handle, Body&& body) {
  Provider& provider = the_provider();
  Lock lock = locked(provider);
  T* const object = all(provider, static_cast<const T*>(nullptr)).find(handle);
  return object == nullptr ? VIP_INVALID_PARAMETER : body(provider, lock, *object);
}

/// Waits until `holds(object)`, or the object is gone: VIP_SUCCESS, VIP_TIMEOUT, VIP_INVALID_PARAMETER.
template <class T, class Holds>
[[nodiscard]] VIP_RETURN wait_for(Provider& provider, Lock& lock, T& object, VIP_ULONG timeout,
                                  Holds&& holds) {
  const std::uint32_t handle = object.handle;
  bool is_gone = false;
  const bool is_over = wait(provider, lock, Deadline(timeout), [&] {
    is_gone = all(provider, static_cast<const T*>(nullptr)).find(handle) != &object;
    return is_gone || holds(object);
  });
  if (is_gone) return VIP_INVALID_PARAMETER;
  return is_over ? VIP_SUCCESS : VIP_TIMEOUT;
}

/// The tag of this NIC; nullptr: it is none.
[[nodiscard]] inline Ptag* find_ptag(Provider& provider, const Nic& nic,
                                     const void* handle) noexcept {
  Ptag* const ptag = provider.ptags.find(handle);
  return ptag != nullptr && ptag->nic == nic.handle ? ptag : nullptr;
}

/// Reads an address of the program. False: it is none.
[[nodiscard]] bool read_address(const VIP_NET_ADDRESS* address, Address& result);
/// Writes one.
void write_address(const Address& address, VIP_NET_ADDRESS& result) noexcept;

/// Removes a VI of any state, with what it has. Requires that nothing of it is under way.
void remove(Provider& provider, Vi& vi);
void remove(Provider& provider, Region& region);

}  // namespace fulmar::vipl
