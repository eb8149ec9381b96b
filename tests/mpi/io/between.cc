// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What else happens to a file: calls between the begin and the end of a split operation (MPI 5.0 section 14.4.5), views
// whose datatypes are freed, handlers of MPI_FILE_NULL, sizes beside pointers at the end, handles of Fortran.
// ranks: 1 2 4
// networks: tcp

#include <mpi.h>

#include <array>

#include "support/files.h"

namespace {

using namespace test;  // NOLINT: most of it is used here

int rank_here() { return test::rank_of(MPI_COMM_WORLD); }
int ranks_here() { return test::size_of(MPI_COMM_WORLD); }

/// Independent calls, questions and other views are allowed; a second collective access and the close are not.
void calls_between_begin_and_end(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("split"), scratch);
  const int rank = rank_here();
  succeeds(MPI_File_set_view(file, 4 * rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "view");
  int value = 100 + rank;
  int other = -1;
  MPI_Status status;
  succeeds(MPI_File_write_all_begin(file, &value, 1, MPI_INT), "begin");
  MPI_Offset position = -1;
  succeeds(MPI_File_get_position(file, &position), "position");
  expect_equal(position, MPI_Offset{1}, "the pointer has moved");
  expect_class(MPI_File_write_all_begin(file, &value, 1, MPI_INT), MPI_ERR_IO, "a second begin");
  expect_class(MPI_File_read_at_all(file, 0, &other, 1, MPI_INT, &status), MPI_ERR_IO,
               "a collective access");
  expect_class(MPI_File_read_all_end(file, &value, &status), MPI_ERR_IO, "another end");
  expect_class(MPI_File_write_all_end(file, &other, &status), MPI_ERR_BUFFER, "another buffer");
  expect_class(MPI_File_close(&file), MPI_ERR_IO, "close");
  MPI_Request request = MPI_REQUEST_NULL;
  expect_class(MPI_File_iwrite_all(file, &value, 1, MPI_INT, &request), MPI_ERR_IO, "iwrite_all");
  const int mine = 200 + rank;
  succeeds(MPI_File_write_at(file, 10 * ranks_here(), &mine, 1, MPI_INT, &status), "write_at");
  succeeds(MPI_File_iwrite_at(file, 20 * ranks_here(), &mine, 1, MPI_INT, &request), "iwrite_at");
  succeeds(MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "view");
  succeeds(MPI_Wait(&request, &status), "wait");
  succeeds(MPI_File_write_all_end(file, &value, &status), "end");
  expect_equal(test::count_of(status, MPI_INT), 1, "an integer");
  MPI_Barrier(MPI_COMM_WORLD);
  for (const int begin : {0, 10 * ranks_here(), 20 * ranks_here()}) {
    succeeds(MPI_File_read_at(file, begin + rank, &other, 1, MPI_INT, &status), "read_at");
    expect_equal(other, begin == 0 ? value : mine, "through the views of their calls");
  }
  succeeds(MPI_File_close(&file), "close");
}

/// MPI 5.0 section 14.3: the view keeps what it needs; MPI_File_get_view gives datatypes of one's own.
void datatypes_of_views_are_kept(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("kept"), scratch);
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_SHORT, &etype);
  MPI_Type_commit(&etype);
  MPI_Type_vector(2, 1, 2 * ranks_here(), etype, &filetype);
  MPI_Type_commit(&filetype);
  succeeds(MPI_File_set_view(file, 3, etype, filetype, "internal", MPI_INFO_NULL), "view");
  MPI_Type_free(&etype);
  MPI_Type_free(&filetype);
  std::array<char, MPI_MAX_DATAREP_STRING> name{};
  for (int round = 0; round < 3; ++round) {
    MPI_Offset displacement = -1;
    MPI_Datatype found = MPI_DATATYPE_NULL;
    MPI_Datatype found_file = MPI_DATATYPE_NULL;
    succeeds(MPI_File_get_view(file, &displacement, &found, &found_file, name.data()), "get_view");
    expect_equal(displacement, MPI_Offset{3}, "the displacement");
    expect(std::string(name.data()) == "internal", "the representation");
    int size = 0;
    MPI_Type_size(found, &size);
    expect_equal(size, 4, "the etype");
    MPI_Aint lb = -1;
    MPI_Aint extent = -1;
    MPI_Type_get_extent(found_file, &lb, &extent);
    expect_equal(extent, MPI_Aint{4} * (2 * ranks_here() + 1), "the filetype");
    // They may be used, and freed, as any other.
    succeeds(MPI_File_set_view(file, 3, found, found_file, "internal", MPI_INFO_NULL), "again");
    succeeds(MPI_Type_free(&found), "free");
    succeeds(MPI_Type_free(&found_file), "free");
  }
  const int value = 5;
  succeeds(MPI_File_write_at(file, 0, &value, 2, MPI_SHORT, MPI_STATUS_IGNORE), "write");
  succeeds(MPI_File_close(&file), "close");
}

void etypes_have_data(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("empty"), scratch);
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  for (MPI_Datatype filetype : {nothing, MPI_INT}) {
    expect_class(MPI_File_set_view(file, 0, nothing, filetype, "native", MPI_INFO_NULL),
                 MPI_ERR_TYPE, "an etype without data");
  }
  // As the datatype of an access it is 0 bytes, however many there are.
  MPI_Status status;
  int value = 1;
  succeeds(MPI_File_write_at_all_c(file, 0, &value, MPI_Count{1} << 40, nothing, &status), "write");
  int elements = -1;
  MPI_Get_elements(&status, MPI_BYTE, &elements);
  expect_equal(elements, 0, "no byte");
  succeeds(MPI_File_read_all_c(file, &value, MPI_Count{1} << 40, nothing, &status), "read");
  succeeds(MPI_File_write_ordered_c(file, &value, MPI_Count{1} << 40, nothing, &status), "ordered");
  MPI_Offset size = -1;
  succeeds(MPI_File_get_size(file, &size), "size");
  expect_equal(size, MPI_Offset{0}, "nothing is in the file");
  expect_class(MPI_File_write_at_c(file, 0, &value, MPI_Count{1} << 62, MPI_INT, &status),
               MPI_ERR_COUNT, "2^64 bytes");
  MPI_Type_free(&nothing);
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_close(&file), "close");
}

/// Pointers stay where they are when the size changes.
void ends_move(const Folder& folder) {
  const std::string name = folder.file("ends");
  constexpr int create = MPI_MODE_CREATE | MPI_MODE_RDWR;
  MPI_File file = open_file(MPI_COMM_WORLD, name, create);
  succeeds(MPI_File_preallocate(file, 64), "preallocate");
  succeeds(MPI_File_close(&file), "close");
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_file(MPI_COMM_WORLD, name, create | MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE);
  succeeds(MPI_File_set_size(file, 16), "set_size");
  MPI_Offset position = -1;
  succeeds(MPI_File_get_position_shared(file, &position), "position");
  expect_equal(position, MPI_Offset{64}, "the shared pointer");
  succeeds(MPI_File_get_position(file, &position), "position");
  expect_equal(position, MPI_Offset{64}, "the individual pointer");
  const int mine = rank_here() + 1;
  succeeds(MPI_File_write_ordered(file, &mine, 1, MPI_INT, MPI_STATUS_IGNORE), "ordered");
  // A view sets both to its beginning, also with MPI_MODE_APPEND.
  succeeds(MPI_File_set_view(file, 16, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), "view");
  succeeds(MPI_File_get_position_shared(file, &position), "position");
  expect_equal(position, MPI_Offset{0}, "the beginning of the view");
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_seek_shared(file, -ranks_here(), MPI_SEEK_END), "from the end");
  int found = 0;
  succeeds(MPI_File_read_ordered(file, &found, 1, MPI_INT, MPI_STATUS_IGNORE), "read_ordered");
  expect_equal(found, mine, "what was appended");
  expect_class(MPI_File_seek_shared(file, -1000, MPI_SEEK_CUR), MPI_ERR_ARG, "before the view");
  succeeds(MPI_File_get_position_shared(file, &position), "position");
  expect_equal(position, MPI_Offset{12 + ranks_here()}, "an error moves nothing");
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_seek_shared(file, 100, MPI_SEEK_CUR), "behind the end");
  MPI_Status status;
  succeeds(MPI_File_read_shared(file, &found, 1, MPI_INT, &status), "read_shared");
  expect_equal(test::count_of(status, MPI_INT), 0, "nothing is there");
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_preallocate(file, 80), "preallocate");
  succeeds(MPI_File_get_size(file, &position), "size");
  expect_equal(position, std::max<MPI_Offset>(80, 64 + 4 * ranks_here()), "no byte is cut");
  succeeds(MPI_File_close(&file), "close");
}

int called = 0;
void count_call(MPI_File* file, int* /*code*/, ...) { called += *file == MPI_FILE_NULL ? 100 : 1; }

/// MPI 5.0 section 14.7: the handler of MPI_FILE_NULL is that of calls without a file and of files to be opened.
void handlers_of_no_file(const Folder& folder) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  succeeds(MPI_File_get_errhandler(MPI_FILE_NULL, &found), "get");
  expect(found == MPI_ERRORS_RETURN, "the default");
  MPI_File_create_errhandler(count_call, &handler);
  succeeds(MPI_File_set_errhandler(MPI_FILE_NULL, handler), "set");
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("null"), scratch);
  succeeds(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), "reset");
  called = 0;
  MPI_Offset size = 0;
  expect_class(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG, "seek");
  expect_equal(called, 1, "a file has the handler from when it was opened");
  succeeds(MPI_File_set_errhandler(MPI_FILE_NULL, handler), "set");
  MPI_File none = MPI_FILE_NULL;
  expect_class(MPI_File_get_size(none, &size), MPI_ERR_FILE, "no file");
  expect_class(MPI_File_close(&none), MPI_ERR_FILE, "no file");
  expect_equal(called, 201, "calls without a file");
  const std::string missing = folder.file("missing");
  expect_class(MPI_File_delete(missing.c_str(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE, "delete");
  expect_equal(called, 301, "MPI_File_delete");
  succeeds(MPI_File_call_errhandler(file, MPI_ERR_IO), "call");
  succeeds(MPI_File_call_errhandler(MPI_FILE_NULL, MPI_ERR_IO), "call");
  expect_equal(called, 402, "MPI_File_call_errhandler");
  succeeds(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN), "reset");
  MPI_Errhandler_free(&handler);
  expect_class(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG, "seek");
  expect_equal(called, 403, "the file keeps the handler");
  const int number = MPI_File_toint(file);
  expect(MPI_File_fromint(number) == file, "toint");
  expect(MPI_File_fromint(MPI_File_toint(MPI_FILE_NULL)) == MPI_FILE_NULL, "no file");
  succeeds(MPI_File_close(&file), "close");
  expect_class(MPI_File_get_size(MPI_File_fromint(number), &size), MPI_ERR_FILE, "a closed file");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const Folder folder;
    calls_between_begin_and_end(folder);
    datatypes_of_views_are_kept(folder);
    etypes_have_data(folder);
    ends_move(folder);
    handlers_of_no_file(folder);
  }
  return test::finish();
}
