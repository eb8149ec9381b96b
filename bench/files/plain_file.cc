// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "plain_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace fulmar::files {
namespace {

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

/// Short calls are continued as any careful program does.
template <class Call>
void move_all(std::size_t bytes, const Call& call) {
  for (std::size_t done = 0; done < bytes;) {
    const ssize_t moved = call(done);
    if (moved <= 0) fail("moving data");
    done += static_cast<std::size_t>(moved);
  }
}

}  // namespace

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  std::fprintf(stderr, "filebench: %s: %s\n", call, text);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

PlainFile::PlainFile(const Place& place, Sharing sharing, std::size_t bytes_of_rank)
    : place_(place), is_own_(sharing == Sharing::one_for_each) {
  path_ = place.folder + "/filebench";
  if (is_own_) path_ += "." + std::to_string(place.rank);
  const bool first = is_own_ || place.rank == 0;
  if (first) ::unlink(path_.c_str());
  MPI_Barrier(place.comm);
  if (place.raw) {
    descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (descriptor_ < 0) fail(path_.c_str());
  } else {
    check(MPI_File_open(is_own_ ? MPI_COMM_SELF : place.comm, path_.c_str(),
                        MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file_),
          "MPI_File_open");
  }
  const std::size_t piece = std::min<std::size_t>(bytes_of_rank, 1 << 20);
  const Memory data = filled(piece);
  const MPI_Offset start =
      is_own_ ? 0 : static_cast<MPI_Offset>(bytes_of_rank) * static_cast<MPI_Offset>(place.rank);
  for (std::size_t at = 0; piece > 0 && at + piece <= bytes_of_rank; at += piece) {
    write_at(start + static_cast<MPI_Offset>(at), data.data(), piece);
  }
  MPI_Barrier(place.comm);
}

PlainFile::~PlainFile() {
  if (place_.raw) {
    ::close(descriptor_);
  } else {
    check(MPI_File_close(&file_), "MPI_File_close");
  }
  MPI_Barrier(place_.comm);
  if (is_own_ || place_.rank == 0) ::unlink(path_.c_str());
}

void PlainFile::forget() const {
  const int file = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0 || ::fdatasync(file) != 0) fail(path_.c_str());
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_DONTNEED);
  ::close(file);
}

void PlainFile::write_at(MPI_Offset offset, const void* from, std::size_t bytes) const {
  if (place_.raw) {
    return move_all(bytes, [&](std::size_t done) {
      return ::pwrite(descriptor_, static_cast<const char*>(from) + done, bytes - done,
                      offset + static_cast<MPI_Offset>(done));
    });
  }
  check(
      MPI_File_write_at(file_, offset, from, static_cast<int>(bytes), MPI_BYTE, MPI_STATUS_IGNORE),
      "MPI_File_write_at");
}

void PlainFile::read_at(MPI_Offset offset, void* to, std::size_t bytes) const {
  if (place_.raw) {
    return move_all(bytes, [&](std::size_t done) {
      return ::pread(descriptor_, static_cast<char*>(to) + done, bytes - done,
                     offset + static_cast<MPI_Offset>(done));
    });
  }
  check(MPI_File_read_at(file_, offset, to, static_cast<int>(bytes), MPI_BYTE, MPI_STATUS_IGNORE),
        "MPI_File_read_at");
}

}  // namespace fulmar::files
