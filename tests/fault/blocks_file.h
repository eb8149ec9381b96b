// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <cstdlib>

/// Opens a file in which blocks of 64 bytes belong to the ranks in turn, and sets that view. Two ranks
/// are aggregators, each with a buffer of `buffer_bytes`, if `two_phase` is "enable". Ends the process
/// with exit status 3 if the file cannot be opened.
inline MPI_File open_blocks_file(const char* name, const char* two_phase,
                                 const char* buffer_bytes) {
  constexpr int block_bytes = 64;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Info_set(info, "romio_cb_write", two_phase);
  MPI_Info_set(info, "cb_buffer_size", buffer_bytes);
  MPI_Info_set(info, "cb_nodes", "2");
  MPI_File file = MPI_FILE_NULL;
  const int mode = MPI_MODE_CREATE | MPI_MODE_RDWR;
  if (MPI_File_open(MPI_COMM_WORLD, name, mode, info, &file) != MPI_SUCCESS) std::_Exit(3);
  MPI_Info_free(&info);
  MPI_Datatype block = MPI_DATATYPE_NULL;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(block_bytes, MPI_BYTE, &block);
  MPI_Type_create_resized(block, 0, MPI_Aint{block_bytes} * size, &type);
  MPI_Type_commit(&type);
  MPI_File_set_view(file, MPI_Offset{block_bytes} * rank, MPI_BYTE, type, "native", MPI_INFO_NULL);
  MPI_Type_free(&block);
  MPI_Type_free(&type);
  return file;
}
