// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <bit>
#include <cstring>
#include <string>

#include "api/calls.h"
#include "mpi/datatype/datatype.h"
#include "mpi/datatype/fortran_facts.h"
#include "mpi/info/info.h"
#include "mpi/library.h"

namespace fulmar::api {
namespace {

using base::Error;
using base::ErrorClass;
using base::failure;

Error no_memory() { return failure(ErrorClass::no_mem, "no memory for an info object"); }

Error check_logical(const mpi::Library::Fortran& fortran, int size, const void* yes,
                    const void* no) {
  if (size < 1 || size > static_cast<int>(fortran.logical_true.size()) ||
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
  if (library.fortran.facts == nullptr) return {};
  auto* made = library.make<mpi::Info>();
  if (made == nullptr) return no_memory();
  made->entries = library.fortran.facts->entries;
  info = mpi::handle_cast<MPI_Info>(*made);
  return {};
}

Error abi_set_fortran_info(mpi::Library& library, mpi::Info& info) {
  if (library.fortran.facts != nullptr) {
    return failure(ErrorClass::abi,
                   "the Fortran facts are set already; only the first call counts");
  }
  const auto facts = mpi::read_fortran_facts(info);
  if (facts.failed()) return facts.error();
  auto* made = library.make<mpi::Info>();
  if (made == nullptr) return no_memory();
  made->entries = info.entries;
  library.fortran.facts = made;
  library.datatypes->set_fortran(facts.value());
  return {};
}

Error abi_get_fortran_booleans(mpi::Library& library, int logical_size, void* logical_true,
                               void* logical_false, int& is_set) {
  const mpi::Library::Fortran& fortran = library.fortran;
  if (const Error error = check_logical(fortran, logical_size, logical_true, logical_false);
      error.failed()) {
    return error;
  }
  is_set = fortran.logical_bytes == logical_size ? 1 : 0;
  if (is_set == 0) return {};
  std::memcpy(logical_true, fortran.logical_true.data(), static_cast<std::size_t>(logical_size));
  std::memcpy(logical_false, fortran.logical_false.data(), static_cast<std::size_t>(logical_size));
  return {};
}

Error abi_set_fortran_booleans(mpi::Library& library, int logical_size, const void* logical_true,
                               const void* logical_false) {
  mpi::Library::Fortran& fortran = library.fortran;
  if (const Error error = check_logical(fortran, logical_size, logical_true, logical_false);
      error.failed()) {
    return error;
  }
  if (fortran.logical_bytes != 0) {
    return failure(ErrorClass::abi,
                   "the values of Fortran logicals are set already; only the first call counts");
  }
  std::memcpy(fortran.logical_true.data(), logical_true, static_cast<std::size_t>(logical_size));
  std::memcpy(fortran.logical_false.data(), logical_false, static_cast<std::size_t>(logical_size));
  fortran.logical_bytes = logical_size;
  return {};
}

}  // namespace fulmar::api
