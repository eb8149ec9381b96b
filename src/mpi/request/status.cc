// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/signature.h"
#include "mpi/request/calls.h"

// Counts in statuses (MPI 5.0 sections 3.2.5, 5.1.11 and 13.3). A status knows bytes.

namespace fulmar::mpi {
namespace {

Count elements_in(const MPI_Status& status, const Datatype& datatype) {
  const Count bytes = status_bytes(status);
  if (bytes == 0) return 0;
  const ElementCount found = count_elements(*datatype.signature, bytes);
  return found.rest == 0 ? found.elements : Count{MPI_UNDEFINED};
}

/// How many bytes the first `elements` basic elements of endless repetitions of a signature have;
/// -1 if that leaves 64 bits, or there are no elements to repeat.
Count bytes_of_elements(const Signature& signature, Count elements) {
  if (elements == 0) return 0;
  if (signature.part_elements == 0) return -1;
  const Count whole = elements / signature.part_elements;
  Count rest = elements % signature.part_elements;
  Count bytes = 0;
  if (__builtin_mul_overflow(whole, signature.part_bytes, &bytes)) return -1;
  for (const auto& part : signature.parts) {
    if (rest == 0) break;
    const Count inside = rest < part->elements() ? rest : part->elements();
    if (__builtin_add_overflow(bytes, bytes_of_elements(*part, inside), &bytes)) return -1;
    rest -= inside;
  }
  return bytes;
}

}  // namespace

base::Error get_count(const MPI_Status& status, Datatype& datatype, CountOut count) {
  const Count bytes = status_bytes(status);
  if (bytes == 0) return count.set(0);
  const bool whole = datatype.size > 0 && bytes % datatype.size == 0;
  return count.set(whole ? bytes / datatype.size : Count{MPI_UNDEFINED});
}

base::Error get_elements(const MPI_Status& status, Datatype& datatype, CountOut count) {
  return count.set(elements_in(status, datatype));
}

base::Error get_elements_x(const MPI_Status& status, Datatype& datatype, Count& count) {
  count = elements_in(status, datatype);
  return {};
}

base::Error status_set_elements(MPI_Status& status, Datatype& datatype, Count count) {
  const Count bytes = bytes_of_elements(*datatype.signature, count);
  if (bytes < 0) {
    return base::failure(base::ErrorClass::arg,
                         "argument count: %lld basic elements of this datatype are not possible",
                         static_cast<long long>(count));
  }
  set_status_bytes(status, bytes);
  return {};
}

base::Error status_set_elements_x(MPI_Status& status, Datatype& datatype, Count count) {
  return status_set_elements(status, datatype, count);
}

}  // namespace fulmar::mpi
