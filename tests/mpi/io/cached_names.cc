// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// A client of a file server that remembers that a file was not there, and so does not find what another machine has made
// since, until it is made to ask for the folder. The program has the functions of the system that the library calls.
// tests/rdma/soak_nfs.py has such clients.
// ranks: 1 2 4

#include <fcntl.h>
#include <mpi.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <string>

#include "support/files.h"

namespace {

using test::expect_class;
using test::succeeds;

constexpr long nfs_magic = 0x6969;

/// What the client of this process remembers; no file without a path.
struct Client {
  std::string folder;
  std::string missing;
  int questions = 0;  ///< for the folder, to the server
};
Client client;

bool is_on_server(const char* path) {
  return !client.folder.empty() && std::string(path).starts_with(client.folder);
}

}  // namespace

extern "C" int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if ((flags & O_CREAT) == 0 && !client.missing.empty() && client.missing == path) {
    errno = ENOENT;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

extern "C" int statfs(const char* path, struct statfs* facts) {
  const auto result = static_cast<int>(::syscall(SYS_statfs, path, facts));
  if (result == 0 && is_on_server(path)) facts->f_type = nfs_magic;
  return result;
}

extern "C" int statx(int folder, const char* path, int flags, unsigned mask, struct statx* facts) {
  if ((flags & AT_STATX_FORCE_SYNC) != 0 && client.folder == path) {
    client.missing.clear();
    ++client.questions;
  }
  return static_cast<int>(::syscall(SYS_statx, folder, path, flags, mask, facts));
}

namespace {

int open_and_close(const std::string& name, int amode) {
  MPI_File file = MPI_FILE_NULL;
  const int code = MPI_File_open(MPI_COMM_WORLD, name.c_str(), amode, MPI_INFO_NULL, &file);
  if (code == MPI_SUCCESS) succeeds(MPI_File_close(&file), "close");
  return code;
}

void check_names(const std::string& name) {
  constexpr int create = MPI_MODE_CREATE | MPI_MODE_RDWR;
  // All but rank 0, which makes the file, believe that it is not there.
  if (test::rank_of(MPI_COMM_WORLD) != 0) client.missing = name;
  expect_class(open_and_close(name, create), MPI_SUCCESS, "a file that rank 0 has just made");
  client.missing = name;
  expect_class(open_and_close(name, MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE), MPI_SUCCESS,
               "a file that was made before");
  client.questions = 0;
  const int code = open_and_close(name + ".none", MPI_MODE_RDONLY);
  expect_class(code, MPI_ERR_NO_SUCH_FILE, "no file");
  test::expect_equal(client.questions, 1,
                     "the server is asked once about a file that is not there");
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const test::Folder folder;
    const std::string name = folder.file("name");
    client.folder = name.substr(0, name.rfind('/'));
    check_names(name);
    // A local file system remembers nothing, and is not asked.
    client.folder.clear();
    client.questions = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    expect_class(open_and_close(name + ".none", MPI_MODE_RDONLY), MPI_ERR_NO_SUCH_FILE, "no file");
    test::expect_equal(client.questions, 0, "no question");
  }
  return test::finish();
}
