// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/request/whole_elements.h"

#include "mpi/datatype/signature.h"

namespace fulmar::mpi {
namespace {

/// The fast path of completion does not check types.
constexpr RequestKind slow_kind(RequestKind kind) {
  kind.plain = false;
  return kind;
}

}  // namespace

base::Error check_whole_elements(const Datatype& type, const MPI_Status& status) {
  const Count bytes = status_bytes(status);
  if (bytes == 0 || status_cancelled(status)) return {};
  const ElementCount found = count_elements(*type.signature, bytes);
  if (found.rest == 0) return {};
  return base::failure(
      base::ErrorClass::type,
      "the message from rank %d with tag %d has %lld bytes; whole basic elements of the receiver's "
      "datatype: %lld, bytes left over: %lld; send and receive the same type",
      status.MPI_SOURCE, status.MPI_TAG, static_cast<long long>(bytes),
      static_cast<long long>(found.elements), static_cast<long long>(found.rest));
}

void check_when_complete(Library& library, MPI_Request handle, Datatype& type) noexcept {
  auto* request = library.find<Request>(handle);
  if (request == nullptr || request->shared) return;
  if (request->what->plain) {
    static const RequestKind receive = slow_kind(*request->what);
    request->what = &receive;
  }
  request->checked_type = &type;
  library.acquire(type);
}

}  // namespace fulmar::mpi
