// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <bit>
#include <cstring>
#include <string>

#include "api/calls.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/values/fortran_facts.h"
#include "mpi/info/info.h"
#include "mpi/library.h"

namespace fulmar::api {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

Error no_memory() { return failure(ErrorClass::no_mem, "no memory for an info object"); }

Error check_logical(int size, const void* yes, const void* no) {
  if (size < 1 || size > static_cast<int>(mpi::LogicalValues::most_bytes) ||
      !std::has_single_bit(static_cast<unsigned>(size))) {
    return failure(
        ErrorClass::arg,
        "argument logical_size: %d is the size of no Fortran logical; sizes are 1, 2, 4, 8 "
        "and 16",
        size);
  }
  if (yes == nullptr || no == nullptr) {
    return failure(ErrorClass::arg, "argument %s: null pointer",
                   yes == nullptr ? "logical_true" : "logical_false");
  }
  return {};
}

}  // namespace

Error abi_get_info(mpi::Library& library, MPI_Info& info) {
  auto* made = library.make<mpi::Info>();
  if (made == nullptr) return no_memory();
  made->set("mpi_aint_size", std::to_string(sizeof(MPI_Aint)));
  made->set("mpi_count_size", std::to_string(sizeof(MPI_Count)));
  made->set("mpi_offset_size", std::to_string(sizeof(MPI_Offset)));
  info = mpi::handle_cast<MPI_Info>(*made);
  return {};
}

Error abi_get_fortran_info(mpi::Library& library, MPI_Info& info) {
  info = MPI_INFO_NULL;
  if (library.fortran_facts == nullptr) return {};
  auto* made = library.make<mpi::Info>();
  if (made == nullptr) return no_memory();
  made->entries = library.fortran_facts->entries;
  info = mpi::handle_cast<MPI_Info>(*made);
  return {};
}

Error abi_set_fortran_info(mpi::Library& library, mpi::Info& info) {
  if (library.fortran_facts != nullptr) {
    return failure(ErrorClass::abi,
                   "the Fortran facts are set already; only the first call counts");
  }
  const auto facts = mpi::read_fortran_facts(info);
  if (facts.failed()) return facts.error();
  auto* made = library.make<mpi::Info>();
  if (made == nullptr) return no_memory();
  made->entries = info.entries;
  library.fortran_facts = made;
  library.datatypes->set_fortran(facts.value());
  return {};
}

Error abi_get_fortran_booleans(mpi::Library& library, int logical_size, void* logical_true,
                               void* logical_false, int& is_set) {
  const Error bad = check_logical(logical_size, logical_true, logical_false);
  if (bad.failed()) return bad;
  const auto bytes = static_cast<std::size_t>(logical_size);
  const mpi::LogicalValues& values = library.datatypes->logical_values();
  is_set = values.bytes == bytes ? 1 : 0;
  if (is_set == 0) return {};
  std::memcpy(logical_true, values.yes.data(), bytes);
  std::memcpy(logical_false, values.no.data(), bytes);
  return {};
}

Error abi_set_fortran_booleans(mpi::Library& library, int logical_size, const void* logical_true,
                               const void* logical_false) {
  const Error bad = check_logical(logical_size, logical_true, logical_false);
  if (bad.failed()) return bad;
  if (library.datatypes->logical_values().bytes != 0) {
    return failure(ErrorClass::abi,
                   "the values of Fortran logicals are set already; only the first call counts");
  }
  const auto bytes = static_cast<std::size_t>(logical_size);
  if (std::memcmp(logical_true, logical_false, bytes) == 0) {
    return failure(ErrorClass::arg,
                   "argument logical_false: it is the value of logical_true; they must differ");
  }
  mpi::LogicalValues values;
  values.bytes = bytes;
  std::memcpy(values.yes.data(), logical_true, bytes);
  std::memcpy(values.no.data(), logical_false, bytes);
  library.datatypes->set_logical_values(values);
  return {};
}

}  // namespace fulmar::api
