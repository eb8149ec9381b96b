// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// Opening, closing, deleting; sizes, modes, hints, error handlers and error classes of files.
// ranks: 1 2 4
// networks: tcp

#include <mpi.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "support/files.h"

namespace {

using namespace test;  // NOLINT: most of it is used here

constexpr int create = MPI_MODE_CREATE | MPI_MODE_RDWR;

void modes_are_checked(const Folder& folder) {
  const std::string name = folder.file("modes");
  MPI_File file = MPI_FILE_NULL;
  const auto open = [&](int amode) {
    return MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode, MPI_INFO_NULL, &file);
  };
  expect_class(open(MPI_MODE_CREATE), MPI_ERR_AMODE, "no access");
  expect_class(open(MPI_MODE_RDONLY | MPI_MODE_WRONLY), MPI_ERR_AMODE, "two accesses");
  expect_class(open(MPI_MODE_RDONLY | MPI_MODE_CREATE), MPI_ERR_AMODE, "read-only create");
  expect_class(open(MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL), MPI_ERR_AMODE, "sequential update");
  expect_class(open(1 << 20), MPI_ERR_AMODE, "unknown bit");
  expect_class(open(MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE, "no such file");
  expect(file == MPI_FILE_NULL, "no handle comes out of an error");
  file = open_file(MPI_COMM_WORLD, name, create | MPI_MODE_EXCL);
  int amode = 0;
  succeeds(MPI_File_get_amode(file, &amode), "MPI_File_get_amode");
  expect_equal(amode, create | MPI_MODE_EXCL, "the mode");
  succeeds(MPI_File_close(&file), "MPI_File_close");
  expect(file == MPI_FILE_NULL, "the handle is gone");
  MPI_Barrier(MPI_COMM_WORLD);
  expect_class(open(create | MPI_MODE_EXCL), MPI_ERR_FILE_EXISTS, "the file exists");
  file = open_file(MPI_COMM_WORLD, "ufs:" + name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE);
  succeeds(MPI_File_close(&file), "MPI_File_close");
  MPI_Barrier(MPI_COMM_WORLD);
  expect_class(open(MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE, "deleted on close");
  if (test::rank_of(MPI_COMM_WORLD) == 0) {
    expect_class(MPI_File_delete(name.c_str(), MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE,
                 "delete what is not there");
  }
  const std::string inside = folder.file("");
  expect_class(MPI_File_open(MPI_COMM_WORLD, inside.c_str(), MPI_MODE_RDWR, MPI_INFO_NULL, &file),
               MPI_ERR_BAD_FILE, "a folder");
}

void ranks_that_differ_fail_together(const Folder& folder) {
  if (test::size_of(MPI_COMM_WORLD) == 1) return;
  const std::string name = folder.file("differ");
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_File file = MPI_FILE_NULL;
  const int amode = rank == 1 ? create | MPI_MODE_UNIQUE_OPEN : create;
  expect_class(MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode, MPI_INFO_NULL, &file),
               MPI_ERR_NOT_SAME, "modes differ");
  file = open_file(MPI_COMM_WORLD, name, scratch);
  expect_class(MPI_File_set_size(file, rank == 1 ? 5 : 6), MPI_ERR_NOT_SAME, "sizes differ");
  MPI_Offset size = -1;
  succeeds(MPI_File_get_size(file, &size), "MPI_File_get_size");
  expect_equal(size, 0, "nothing was done");
  succeeds(MPI_File_close(&file), "MPI_File_close");
}

void sizes(const Folder& folder) {
  MPI_File file = open_file(MPI_COMM_WORLD, folder.file("sizes"), scratch);
  MPI_Offset size = -1;
  succeeds(MPI_File_set_size(file, 12345), "MPI_File_set_size");
  succeeds(MPI_File_get_size(file, &size), "MPI_File_get_size");
  expect_equal(size, 12345, "the size that was set");
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_preallocate(file, 100), "preallocate less");
  succeeds(MPI_File_get_size(file, &size), "MPI_File_get_size");
  expect_equal(size, 12345, "preallocation does not cut");
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_preallocate(file, 20000), "preallocate more");
  succeeds(MPI_File_get_size(file, &size), "MPI_File_get_size");
  expect_equal(size, 20000, "preallocation extends");
  MPI_Barrier(MPI_COMM_WORLD);
  constexpr MPI_Offset huge = MPI_Offset{1} << 40;
  succeeds(MPI_File_set_size(file, huge), "a large size");
  succeeds(MPI_File_get_size(file, &size), "MPI_File_get_size");
  expect_equal(size, huge, "a large size");
  expect_class(MPI_File_set_size(file, -1), MPI_ERR_ARG, "a negative size");
  succeeds(MPI_File_sync(file), "MPI_File_sync");
  MPI_Group group = MPI_GROUP_NULL;
  MPI_Group world = MPI_GROUP_NULL;
  succeeds(MPI_File_get_group(file, &group), "MPI_File_get_group");
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int result = MPI_UNEQUAL;
  MPI_Group_compare(group, world, &result);
  expect_equal(result, MPI_IDENT, "the group that opened it");
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  succeeds(MPI_File_close(&file), "MPI_File_close");
}

void hints_are_in_effect(const Folder& folder) {
  test::Hints hints;
  hints.set("cb_buffer_size", "65536").set("romio_cb_write", "enable").set("unknown", "x");
  hints.set("file_perm", "0600").set("cb_nodes", "nonsense");
  const std::string name = folder.file("hints");
  MPI_File file = open_file(MPI_COMM_WORLD, name, scratch, hints.info());
  expect(test::Hints::value(file, "cb_buffer_size") == "65536", "cb_buffer_size");
  expect(test::Hints::value(file, "romio_cb_write") == "enable", "romio_cb_write");
  expect(test::Hints::value(file, "romio_cb_read") == "automatic", "romio_cb_read");
  expect(test::Hints::value(file, "unknown").empty(), "hints without effect are not returned");
  expect(test::Hints::value(file, "cb_nodes") == "1", "one aggregator on the one node");
  struct stat facts{};
  expect(::stat(name.c_str(), &facts) == 0 && (facts.st_mode & 0777) == 0600, "file_perm");
  test::Hints later;
  later.set("romio_cb_write", "disable").set("cb_nodes", "3");
  succeeds(MPI_File_set_info(file, later.info()), "MPI_File_set_info");
  expect(test::Hints::value(file, "romio_cb_write") == "disable", "changed later");
  expect(test::Hints::value(file, "cb_nodes") == "1", "not changed later");
  succeeds(MPI_File_close(&file), "MPI_File_close");
}

int last_code = MPI_SUCCESS;
void note_code(MPI_File* /*file*/, int* code, ...) { last_code = *code; }

void error_handlers(const Folder& folder) {
  MPI_File file = MPI_FILE_NULL;
  MPI_Offset size = 0;
  expect_class(MPI_File_get_size(MPI_FILE_NULL, &size), MPI_ERR_FILE, "MPI_FILE_NULL");
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_File_create_errhandler(note_code, &handler);
  MPI_File_set_errhandler(MPI_FILE_NULL, handler);
  const std::string missing = folder.file("missing");
  const int code =
      MPI_File_open(MPI_COMM_SELF, missing.c_str(), MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  expect_equal(last_code, code, "errors of open go to MPI_FILE_NULL's handler");
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  expect(std::strstr(text.data(), missing.c_str()) != nullptr, "the text names the file");
  expect(std::strstr(text.data(), "MPI_File_open") != nullptr, "the text names the call");
  MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN);
  file = open_file(MPI_COMM_WORLD, folder.file("handler"), scratch);
  MPI_Errhandler found = MPI_ERRHANDLER_NULL;
  MPI_File_get_errhandler(file, &found);
  expect(found == MPI_ERRORS_RETURN, "the handler of new files");
  MPI_File_set_errhandler(file, handler);
  MPI_Errhandler_free(&handler);
  last_code = MPI_SUCCESS;
  expect_class(MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG, "a seek before the view");
  expect_class(last_code, MPI_ERR_ARG, "the handler of the file");
  succeeds(MPI_File_close(&file), "MPI_File_close");
}

void access_needs_its_mode(const Folder& folder) {
  const std::string name = folder.file("access");
  int value = 7;
  MPI_File file = open_file(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY);
  expect_class(MPI_File_read(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS, "read");
  succeeds(MPI_File_close(&file), "MPI_File_close");
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_file(MPI_COMM_WORLD, name, MPI_MODE_RDONLY);
  expect_class(MPI_File_write(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY,
               "write");
  expect_class(MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY,
               "collective write");
  expect_class(MPI_File_set_size(file, 1), MPI_ERR_READ_ONLY, "set the size");
  succeeds(MPI_File_close(&file), "MPI_File_close");
  MPI_Barrier(MPI_COMM_WORLD);
  file = open_file(MPI_COMM_WORLD, name,
                   MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE);
  expect_class(MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
               MPI_ERR_UNSUPPORTED_OPERATION, "explicit offset in a sequential file");
  expect_class(MPI_File_seek(file, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION,
               "seek in a sequential file");
  expect_class(MPI_File_set_size(file, 100), MPI_ERR_UNSUPPORTED_OPERATION,
               "set the size of a sequential file");
  expect_class(MPI_File_preallocate(file, 100), MPI_ERR_UNSUPPORTED_OPERATION,
               "preallocate a sequential file");
  succeeds(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
           "the shared pointer of a sequential file");
  MPI_Offset size = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  succeeds(MPI_File_get_size(file, &size), "MPI_File_get_size");
  expect_equal(size, 4 * test::size_of(MPI_COMM_WORLD), "one integer of each rank");
  succeeds(MPI_File_close(&file), "MPI_File_close");
}

/// MPI_DISPLACEMENT_CURRENT is where the shared pointer is when all ranks have come; the last one comes late.
void a_view_begins_behind_all_ranks(const Folder& folder) {
  const int ranks = test::size_of(MPI_COMM_WORLD);
  MPI_File file =
      open_file(MPI_COMM_WORLD, folder.file("here"),
                MPI_MODE_CREATE | MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL | MPI_MODE_DELETE_ON_CLOSE);
  if (test::rank_of(MPI_COMM_WORLD) == ranks - 1) ::usleep(30'000);
  int value = 7;
  succeeds(MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), "write_shared");
  succeeds(
      MPI_File_set_view(file, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
      "set_view");
  MPI_Offset displacement = -1;
  MPI_Datatype etype = MPI_DATATYPE_NULL;
  MPI_Datatype filetype = MPI_DATATYPE_NULL;
  std::array<char, MPI_MAX_DATAREP_STRING> name{};
  succeeds(MPI_File_get_view(file, &displacement, &etype, &filetype, name.data()), "get_view");
  expect_equal(displacement, MPI_Offset{4} * ranks, "one integer of each rank is before it");
  succeeds(MPI_File_close(&file), "close");
}

void append_begins_at_the_end(const Folder& folder) {
  const std::string name = folder.file("append");
  const int rank = test::rank_of(MPI_COMM_WORLD);
  MPI_File file = open_file(MPI_COMM_WORLD, name, create);
  succeeds(MPI_File_set_size(file, 100), "MPI_File_set_size");
  succeeds(MPI_File_close(&file), "MPI_File_close");
  MPI_Barrier(MPI_COMM_WORLD);
  file =
      open_file(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE);
  MPI_Offset position = -1;
  succeeds(MPI_File_get_position(file, &position), "MPI_File_get_position");
  expect_equal(position, 100, "the individual pointer");
  succeeds(MPI_File_get_position_shared(file, &position), "MPI_File_get_position_shared");
  expect_equal(position, 100, "the shared pointer");
  MPI_Barrier(MPI_COMM_WORLD);
  const char letter = static_cast<char>('a' + rank);
  succeeds(MPI_File_write_ordered(file, &letter, 1, MPI_CHAR, MPI_STATUS_IGNORE),
           "MPI_File_write_ordered");
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<char> content = test::content_of(name);
  expect_equal(content.size(), 100 + test::size_of(MPI_COMM_WORLD), "the appended bytes");
  for (int i = 0; i < test::size_of(MPI_COMM_WORLD); ++i) {
    expect_equal(content[static_cast<std::size_t>(100 + i)], 'a' + i, "in the order of the ranks");
  }
  succeeds(MPI_File_close(&file), "MPI_File_close");
}

void deleted_where_it_was_opened(const Folder& folder) {
  const std::string name = folder.file("moved");
  succeeds(::chdir(name.substr(0, name.rfind('/')).c_str()), "chdir");
  MPI_File file = open_file(MPI_COMM_WORLD, name.substr(name.rfind('/') + 1), scratch);
  succeeds(::access(name.c_str(), F_OK), "access");
  succeeds(::chdir("/"), "chdir");
  succeeds(MPI_File_close(&file), "MPI_File_close");
  expect_equal(::access(name.c_str(), F_OK), -1, "MPI_MODE_DELETE_ON_CLOSE, in another folder");
}

void many_files_are_open(const Folder& folder) {
  std::vector<MPI_File> files;
  for (int i = 0; i < 20; ++i) {
    files.push_back(open_file(MPI_COMM_SELF,
                              folder.file("many") + std::to_string(i) + "." +
                                  std::to_string(test::rank_of(MPI_COMM_WORLD)),
                              scratch));
    succeeds(MPI_File_write(files.back(), &i, 1, MPI_INT, MPI_STATUS_IGNORE), "write");
  }
  for (int i = 19; i >= 0; --i) {
    int value = -1;
    MPI_File& file = files[static_cast<std::size_t>(i)];
    succeeds(MPI_File_read_at(file, 0, &value, 4, MPI_BYTE, MPI_STATUS_IGNORE), "read");
    expect_equal(value, i, "each file has its own");
    succeeds(MPI_File_close(&file), "MPI_File_close");
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  {
    const Folder folder;
    modes_are_checked(folder);
    ranks_that_differ_fail_together(folder);
    sizes(folder);
    hints_are_in_effect(folder);
    error_handlers(folder);
    access_needs_its_mode(folder);
    a_view_begins_behind_all_ranks(folder);
    append_begins_at_the_end(folder);
    many_files_are_open(folder);
    deleted_where_it_was_opened(folder);
  }
  return test::finish();
}
