// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <type_traits>

#include "api/call.h"
#include "api/kinds/values.h"
#include "mpi/library.h"

/// FULMAR_CHECK=types: whether a received message is a whole number of the basic elements
/// of the receiver's type. All calls then take the slow path (entry.h), so that it costs nothing
/// otherwise.
namespace fulmar::api {

/// A receive buffer, and the argument with the source of the message.
template <class Wrapper>
inline constexpr bool is_room = requires(const Wrapper& wrapper, const Scope& scope) {
  requires std::is_same_v<decltype(wrapper.value(scope)), mpi::Data>;
};
template <class Wrapper>
inline constexpr bool is_origin = requires { Wrapper::names_origin; };

/// Whether a call with these arguments receives a message, or makes a request that does.
template <class... Wrappers>
inline constexpr bool receives_message = (is_room<Wrappers> || ...) && (is_origin<Wrappers> || ...);

/// The check of one call.
class ReceiveCheck {
 public:
  explicit ReceiveCheck(mpi::Library& library) noexcept : library_(library) {}

  /// Before the call: records the argument. Replaces an ignored status by its own.
  template <class Wrapper>
  void examine(Wrapper& wrapper) noexcept {
    if constexpr (is_room<Wrapper>) {
      type_ = wrapper.handle;
    } else if constexpr (std::is_same_v<Wrapper, Plain<MPI_Status*>>) {
      if (wrapper.raw == nullptr) wrapper.raw = &own_status_;
      status_ = wrapper.raw;
    } else if constexpr (std::is_same_v<Wrapper, Out<MPI_Request>>) {
      request_ = wrapper.raw;
    } else if constexpr (requires { requires std::is_same_v<decltype(wrapper.raw), MPI_Comm>; }) {
      comm_ = wrapper.raw;
    }
  }

  /// After success: the result of the call. A request is checked when it is completed.
  [[nodiscard]] int result(Call call) const;

 private:
  mpi::Library& library_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Request* request_ = nullptr;
  MPI_Status* status_ = nullptr;
  MPI_Status own_status_{};
};

}  // namespace fulmar::api
