// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <pthread.h>

#include <cstdint>

#include "sisci/library.h"

/// What the functions of the C interface have in common.
namespace fulmar::sisci {

/// The one pointer behind the C interface: set between SCIInitialize and SCITerminate.
[[nodiscard]] Library*& current() noexcept;

/// Programs cancel threads that poll with calls of SISCI, also asynchronously. While this exists the calling thread is
/// not cancelled, so that no lock stays behind; it is when this ends. The type is changed, too: glibc's handler of a
/// cancellation that was on its way looks at the type alone (seen with 2.36).
class Uncancelled {
 public:
  Uncancelled() noexcept {
    (void)::pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type_);
    (void)::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state_);
  }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;
  // The thread may end in it.
  ~Uncancelled() noexcept(false) {
    (void)::pthread_setcancelstate(state_, nullptr);
    (void)::pthread_setcanceltype(type_, nullptr);
  }

 private:
  int state_ = PTHREAD_CANCEL_ENABLE;
  int type_ = PTHREAD_CANCEL_DEFERRED;
};

/// Runs `body(Library&)`, which gives a sci_error_t, with the lock held once. What it has sent is on its way at the end:
/// a program that waits for memory to change calls nothing meanwhile.
template <class Body>
void call(sci_error_t* error, Body&& body) {
  Library* const library = current();
  sci_error_t status = SCI_ERR_NOT_INITIALIZED;
  if (library != nullptr) {
    const Uncancelled uncancelled;
    const Locked lock(*library);
    status = body(*library);
    library->port->release();
  }
  if (error != nullptr) *error = status;
}

/// SCI_ERR_FLAG_NOT_IMPLEMENTED for flags in `refused`, SCI_ERR_ILLEGAL_FLAG for any that are not in `known`.
[[nodiscard]] constexpr sci_error_t check_flags(std::uint32_t flags, std::uint32_t known,
                                                std::uint32_t refused = 0) noexcept {
  if ((flags & refused) != 0) return SCI_ERR_FLAG_NOT_IMPLEMENTED;
  return (flags & ~known) != 0 ? SCI_ERR_ILLEGAL_FLAG : SCI_ERR_OK;
}

/// There is adapter 0.
[[nodiscard]] constexpr sci_error_t check_adapter(std::uint32_t number) noexcept {
  constexpr std::uint32_t most_adapters = 16;
  if (number >= most_adapters) return SCI_ERR_ILLEGAL_ADAPTERNO;
  return number == 0 ? SCI_ERR_OK : SCI_ERR_NO_SUCH_ADAPTERNO;
}

/// The first that is an error.
template <class... Statuses>
[[nodiscard]] constexpr sci_error_t first_error(Statuses... statuses) noexcept {
  sci_error_t first = SCI_ERR_OK;
  ((first = first == SCI_ERR_OK ? statuses : first), ...);
  return first;
}

[[nodiscard]] constexpr sci_error_t check_parameter(bool is_right) noexcept {
  return is_right ? SCI_ERR_OK : SCI_ERR_ILLEGAL_PARAMETER;
}

/// An object's handle for the program.
template <class Handle, class T>
[[nodiscard]] Handle handle_of(T& object) noexcept {
  return reinterpret_cast<Handle>(&object);
}

/// A new object of the descriptor.
template <class T>
[[nodiscard]] T& make(Pool<T>& pool, Descriptor& descriptor) {
  ++descriptor.objects;
  return pool.make(&descriptor);
}
template <class T>
void remove(Pool<T>& pool, T& object) noexcept {
  --object.descriptor->objects;
  pool.remove(object);
}

/// Waits until `is_ready(object)`: SCI_ERR_OK, SCI_ERR_TIMEOUT, or SCI_ERR_CANCELLED where the object has been
/// removed meanwhile.
template <class T, class IsReady>
[[nodiscard]] sci_error_t wait_for(Library& library, Pool<T>& pool, T& object,
                                   std::uint32_t timeout_ms, IsReady&& is_ready) {
  const std::uint64_t serial = object.serial;
  bool is_gone = false;
  const bool is_over = wait(
      library,
      [&]() noexcept {
        is_gone = !pool.has(&object, serial);
        return is_gone || is_ready(object);
      },
      timeout_ms);
  if (is_gone) return SCI_ERR_CANCELLED;
  return is_over ? SCI_ERR_OK : SCI_ERR_TIMEOUT;
}

/// Offset and size against what there is.
[[nodiscard]] constexpr sci_error_t check_range(std::size_t offset, std::size_t size,
                                                std::size_t bytes) noexcept {
  return offset > bytes || size > bytes - offset ? SCI_ERR_OUT_OF_RANGE : SCI_ERR_OK;
}

}  // namespace fulmar::sisci
