// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors

// The predefined functions of attributes (MPI 5.0 section 7.7), which Open MPI's ABI exports. An object is an address
// whatever its type.

namespace {

int copy_pointer(void* value_in, void* value_out, int* flag) {
  *static_cast<void**>(value_out) = value_in;
  *flag = 1;
  return 0;
}

int copy_nothing(int* flag) {
  *flag = 0;
  return 0;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming)
#pragma GCC visibility push(default)
using DupFunction = int(void*, int, void*, void*, void*, int*);
using DeleteFunction = int(void*, int, void*, void*);
extern "C" {
DupFunction OMPI_C_MPI_DUP_FN;
DupFunction OMPI_C_MPI_NULL_COPY_FN;
DeleteFunction OMPI_C_MPI_NULL_DELETE_FN;
DupFunction OMPI_C_MPI_COMM_DUP_FN;
DupFunction OMPI_C_MPI_COMM_NULL_COPY_FN;
DeleteFunction OMPI_C_MPI_COMM_NULL_DELETE_FN;
DupFunction OMPI_C_MPI_TYPE_DUP_FN;
DupFunction OMPI_C_MPI_TYPE_NULL_COPY_FN;
DeleteFunction OMPI_C_MPI_TYPE_NULL_DELETE_FN;
DupFunction OMPI_C_MPI_WIN_DUP_FN;
DupFunction OMPI_C_MPI_WIN_NULL_COPY_FN;
DeleteFunction OMPI_C_MPI_WIN_NULL_DELETE_FN;
}

extern "C" {
int OMPI_C_MPI_DUP_FN(void* /*object*/, int /*keyval*/, void* /*extra_state*/, void* value_in,
                      void* value_out, int* flag) {
  return copy_pointer(value_in, value_out, flag);
}
int OMPI_C_MPI_NULL_COPY_FN(void* /*object*/, int /*keyval*/, void* /*extra_state*/,
                            void* /*value_in*/, void* /*value_out*/, int* flag) {
  return copy_nothing(flag);
}
int OMPI_C_MPI_NULL_DELETE_FN(void* /*object*/, int /*keyval*/, void* /*value*/,
                              void* /*extra_state*/) {
  return 0;
}
}

extern "C" {
int OMPI_C_MPI_COMM_DUP_FN(void* /*object*/, int /*keyval*/, void* /*extra_state*/, void* value_in,
                           void* value_out, int* flag) {
  return copy_pointer(value_in, value_out, flag);
}
int OMPI_C_MPI_COMM_NULL_COPY_FN(void* /*object*/, int /*keyval*/, void* /*extra_state*/,
                                 void* /*value_in*/, void* /*value_out*/, int* flag) {
  return copy_nothing(flag);
}
int OMPI_C_MPI_COMM_NULL_DELETE_FN(void* /*object*/, int /*keyval*/, void* /*value*/,
                                   void* /*extra_state*/) {
  return 0;
}
}

extern "C" {
int OMPI_C_MPI_TYPE_DUP_FN(void* /*object*/, int /*keyval*/, void* /*extra_state*/, void* value_in,
                           void* value_out, int* flag) {
  return copy_pointer(value_in, value_out, flag);
}
int OMPI_C_MPI_TYPE_NULL_COPY_FN(void* /*object*/, int /*keyval*/, void* /*extra_state*/,
                                 void* /*value_in*/, void* /*value_out*/, int* flag) {
  return copy_nothing(flag);
}
int OMPI_C_MPI_TYPE_NULL_DELETE_FN(void* /*object*/, int /*keyval*/, void* /*value*/,
                                   void* /*extra_state*/) {
  return 0;
}
}

extern "C" {
int OMPI_C_MPI_WIN_DUP_FN(void* /*object*/, int /*keyval*/, void* /*extra_state*/, void* value_in,
                          void* value_out, int* flag) {
  return copy_pointer(value_in, value_out, flag);
}
int OMPI_C_MPI_WIN_NULL_COPY_FN(void* /*object*/, int /*keyval*/, void* /*extra_state*/,
                                void* /*value_in*/, void* /*value_out*/, int* flag) {
  return copy_nothing(flag);
}
int OMPI_C_MPI_WIN_NULL_DELETE_FN(void* /*object*/, int /*keyval*/, void* /*value*/,
                                  void* /*extra_state*/) {
  return 0;
}
}
#pragma GCC visibility pop
// NOLINTEND(readability-identifier-naming)
