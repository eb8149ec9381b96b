// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string_view>

#include "mpi/args.h"

namespace fulmar::mpi {

// The functions of MPI 5.0 chapter 14; see mpi/args.h for how parameters come. Offsets of the user
// are in etypes of the view, but for sizes and displacements, which are in bytes. Errors of the
// system have the classes of section 14.7 (io/io_error.h). Besides:
//
//   MPI_ERR_AMODE                   an invalid mode
//   MPI_ERR_NOT_SAME                ranks differ in what they must agree on
//   MPI_ERR_ACCESS, _READ_ONLY      a read of a file opened for writing only, and the other way
//   MPI_ERR_UNSUPPORTED_OPERATION   a call that the mode MPI_MODE_SEQUENTIAL rules out
//   MPI_ERR_ARG                     a negative offset or size
//   MPI_ERR_TYPE                    data that are no whole number of etypes
//   MPI_ERR_IO                      a split collective operation that has not ended, or not begun
//
// Blocking operations of one process run without the lock of the library.

// Opening, closing and what belongs to the file as a whole (sections 14.2, 14.6). Collective ones
// fail in all processes if they fail in one.
base::Error file_open(Library& library, Comm& comm, std::string_view name, int amode, Info* info,
                      MPI_File& out);
base::Error file_close(Library& library, ErrorTarget& target, Handle<File> file);
base::Error file_delete(Library& library, std::string_view name, Info* info);
base::Error file_set_size(File& file, Count size);
base::Error file_preallocate(File& file, Count size);
base::Error file_get_size(File& file, MPI_Offset& size);
base::Error file_get_group(Library& library, File& file, MPI_Group& out);
base::Error file_get_amode(File& file, int& amode);
base::Error file_set_info(File& file, Info* info);
base::Error file_get_info(Library& library, File& file, MPI_Info& out);
base::Error file_set_atomicity(File& file, int flag);
base::Error file_get_atomicity(File& file, int& flag);
base::Error file_sync(File& file);

// What a process does whose arguments of a collective call are wrong in themselves (`error`): it
// takes its part in the exchange, so that the calls of the others end, with this error
// (api/file_entry.h).
void join_open(Library& library, Comm& comm, const base::Error& error);
void join_set_view(File& file, const base::Error& error);
void join_set_info(File& file, const base::Error& error);
void join_read(File& file, const base::Error& error);
void join_write(File& file, const base::Error& error);
void join_read_ordered(File& file, const base::Error& error);
void join_write_ordered(File& file, const base::Error& error);
/// These return at once; MPI_Finalize waits for the end.
void join_read_later(File& file, const base::Error& error);
void join_write_later(File& file, const base::Error& error);
void join_read_ordered_later(File& file, const base::Error& error);
void join_write_ordered_later(File& file, const base::Error& error);

// Views and pointers (sections 14.3 to 14.5).
base::Error file_set_view(Library& library, File& file, Count displacement, Datatype& etype,
                          Datatype& filetype, std::string_view datarep, Info* info);
base::Error file_get_view(Library& library, File& file, MPI_Offset& displacement,
                          MPI_Datatype& etype, MPI_Datatype& filetype, char* datarep);
base::Error file_seek(File& file, Count offset, int whence);
base::Error file_get_position(File& file, MPI_Offset& offset);
base::Error file_get_byte_offset(File& file, Count offset, MPI_Offset& displacement);
base::Error file_seek_shared(File& file, Count offset, int whence);
base::Error file_get_position_shared(File& file, MPI_Offset& offset);
base::Error file_get_type_extent(Library& library, File& file, Datatype& datatype, Count& extent);
base::Error register_datarep(Library& library, std::string_view name, ConversionFunction read,
                             ConversionFunction write, MPI_Datarep_extent_function* extent,
                             void* extra_state);

// Data access (section 14.4). The individual pointer moves by what was asked for when the call is
// made, also where less is read because the file ends.
base::Error file_read_at(File& file, Count offset, const Data& data, MPI_Status* status);
base::Error file_write_at(File& file, Count offset, const ConstData& data, MPI_Status* status);
base::Error file_read(File& file, const Data& data, MPI_Status* status);
base::Error file_write(File& file, const ConstData& data, MPI_Status* status);
base::Error file_read_shared(File& file, const Data& data, MPI_Status* status);
base::Error file_write_shared(File& file, const ConstData& data, MPI_Status* status);

base::Error file_iread_at(File& file, Count offset, const Data& data, MPI_Request& request);
base::Error file_iwrite_at(File& file, Count offset, const ConstData& data, MPI_Request& request);
base::Error file_iread(File& file, const Data& data, MPI_Request& request);
base::Error file_iwrite(File& file, const ConstData& data, MPI_Request& request);
base::Error file_iread_shared(File& file, const Data& data, MPI_Request& request);
base::Error file_iwrite_shared(File& file, const ConstData& data, MPI_Request& request);

base::Error file_read_at_all(File& file, Count offset, const Data& data, MPI_Status* status);
base::Error file_write_at_all(File& file, Count offset, const ConstData& data, MPI_Status* status);
base::Error file_read_all(File& file, const Data& data, MPI_Status* status);
base::Error file_write_all(File& file, const ConstData& data, MPI_Status* status);
base::Error file_read_ordered(File& file, const Data& data, MPI_Status* status);
base::Error file_write_ordered(File& file, const ConstData& data, MPI_Status* status);

base::Error file_iread_at_all(File& file, Count offset, const Data& data, MPI_Request& request);
base::Error file_iwrite_at_all(File& file, Count offset, const ConstData& data,
                               MPI_Request& request);
base::Error file_iread_all(File& file, const Data& data, MPI_Request& request);
base::Error file_iwrite_all(File& file, const ConstData& data, MPI_Request& request);

base::Error file_read_at_all_begin(File& file, Count offset, const Data& data);
base::Error file_read_at_all_end(File& file, void* buffer, MPI_Status* status);
base::Error file_write_at_all_begin(File& file, Count offset, const ConstData& data);
base::Error file_write_at_all_end(File& file, const void* buffer, MPI_Status* status);
base::Error file_read_all_begin(File& file, const Data& data);
base::Error file_read_all_end(File& file, void* buffer, MPI_Status* status);
base::Error file_write_all_begin(File& file, const ConstData& data);
base::Error file_write_all_end(File& file, const void* buffer, MPI_Status* status);
base::Error file_read_ordered_begin(File& file, const Data& data);
base::Error file_read_ordered_end(File& file, void* buffer, MPI_Status* status);
base::Error file_write_ordered_begin(File& file, const ConstData& data);
base::Error file_write_ordered_end(File& file, const void* buffer, MPI_Status* status);

}  // namespace fulmar::mpi
