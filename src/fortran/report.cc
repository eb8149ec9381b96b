// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/report.h"

#include <mpi.h>

#include <atomic>

#include "fortran/handles.h"

namespace fulmar::fortran {
namespace {

struct Text {
  int error_class;
  const char* text;
};

constexpr Text texts[] = {
    {MPI_ERR_NO_MEM, "Fortran interface: no memory for the arguments of a call"},
    {MPI_ERR_COUNT,
     "Fortran interface: the count exceeds the elements of the array section that is the buffer; "
     "pass a larger section or a smaller count"},
    {MPI_ERR_TYPE,
     "Fortran interface: the buffer is an array section with gaps whose elements the datatype does "
     "not fill; pass a contiguous buffer, or a datatype of the elements of the array"},
    {MPI_ERR_BUFFER,
     "Fortran interface: the memory that this call keeps has to be contiguous; pass a whole array "
     "instead of a section with gaps"},
    {MPI_ERR_OTHER,
     "Fortran interface: more than 256 different procedures were passed to MPI_Op_create; "
     "operations "
     "of the same procedure share one place"},
    {MPI_ERR_OTHER,
     "Fortran interface: more than 64 different procedures were passed to a procedure that creates "
     "error handlers; handlers of the same procedure share one place"},
    {MPI_ERR_ARG,
     "Fortran interface: an address or an extent does not fit a default INTEGER; call "
     "MPI_GET_ADDRESS or MPI_TYPE_GET_EXTENT with INTEGER(KIND=MPI_ADDRESS_KIND) instead"},
};
constexpr int text_count = sizeof(texts) / sizeof(texts[0]);

std::atomic<int> codes[text_count];  // 0: not made yet

int code_of(int index) {
  const int known = codes[index].load(std::memory_order_relaxed);
  if (known != 0) return known;
  int made = 0;
  if (PMPI_Add_error_code(texts[index].error_class, &made) != MPI_SUCCESS) {
    return texts[index].error_class;
  }
  if (PMPI_Add_error_string(made, texts[index].text) == MPI_SUCCESS) {
    codes[index].store(made, std::memory_order_relaxed);
  }
  return made;
}

}  // namespace

int report(Problem problem, ErrorTarget target) {
  const int code = code_of(static_cast<int>(problem));
  switch (target.kind) {
    case ErrorTarget::Kind::none:
      PMPI_Comm_call_errhandler(MPI_COMM_SELF, code);
      break;
    case ErrorTarget::Kind::comm:
      PMPI_Comm_call_errhandler(handle<MPI_Comm>(target.handle), code);
      break;
    case ErrorTarget::Kind::win:
      PMPI_Win_call_errhandler(handle<MPI_Win>(target.handle), code);
      break;
    case ErrorTarget::Kind::file:
      PMPI_File_call_errhandler(handle<MPI_File>(target.handle), code);
      break;
    case ErrorTarget::Kind::session:
      PMPI_Session_call_errhandler(handle<MPI_Session>(target.handle), code);
      break;
  }
  return code;
}

}  // namespace fulmar::fortran
