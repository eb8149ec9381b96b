// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/io_error.h"

#include <cerrno>
#include <cstring>

namespace fulmar::io {
namespace {

using base::ErrorClass;

/// What the user can do.
const char* remedy_of(int error) noexcept {
  switch (error) {
    case EACCES:
    case EPERM:
      return "; check the permissions of the file and of its folder";
    case ENOENT:
      return "; check the name, or add MPI_MODE_CREATE";
    case EEXIST:
      return "; remove the file, or leave out MPI_MODE_EXCL";
    case ENOSPC:
      return "; free space on the file system, or write to another one";
    case EDQUOT:
      return "; free space, or have the quota raised";
    case EROFS:
      return "; the file system is mounted read-only: write elsewhere";
    case EFBIG:
      return "; the file system or the limit on file sizes (ulimit -f) does not allow more";
    case EISDIR:
      return "; name a file, not a folder";
    case EMFILE:
      return "; close files, or raise the limit on open files (ulimit -n)";
    case ENFILE:
      return "; close files, or raise the system's limit on open files (fs.file-max)";
    case ENOMEM:
      return "; free memory, or raise the limit on it";
    case EFAULT:
      return "; the buffer is no memory of the program: check its address, the count and the "
             "datatype";
    case EBADF:
      return "; the program has closed a descriptor that is not its own: look for a close too many";
    case EINVAL:
      return "; the file system does not take such an offset or length: use another one";
    case ETIMEDOUT:
    case EHOSTDOWN:
    case EHOSTUNREACH:
    case ECONNREFUSED:
      return "; the file server does not answer: see whether it is up";
    case EIO:
      return "; the device or the file server reports damage: see the system's log";
    case ESTALE:
      return "; the file was removed on the file server: open it again";
    case EBUSY:
    case ETXTBSY:
      return "; another program uses it: end that one, or take another file";
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return "; check the name";
    case ENOLCK:
      return "; the file system grants no lock: have its lock service started, or use no atomic "
             "mode";
    case EOPNOTSUPP:
    case ENOSYS:
      return "; the file system cannot do that: use another one";
    case ESPIPE:
    case ENODEV:
      return "; it has no offsets: name a file that is stored, not a pipe or a device";
    default:
      return "; the system's log may say more";
  }
}

}  // namespace

ErrorClass class_of_errno(int error) noexcept {
  switch (error) {
    case EACCES:
    case EPERM:
      return ErrorClass::access;
    case ENOENT:
      return ErrorClass::no_such_file;
    case EEXIST:
      return ErrorClass::file_exists;
    case ENOSPC:
      return ErrorClass::no_space;
    case EDQUOT:
      return ErrorClass::quota;
    case EROFS:
      return ErrorClass::read_only;
    case EBUSY:
    case ETXTBSY:
      return ErrorClass::file_in_use;
    case EISDIR:
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return ErrorClass::bad_file;
    case EOPNOTSUPP:
    case ENOSYS:
    case ESPIPE:
    case ENODEV:
      return ErrorClass::unsupported_operation;
    default:
      return ErrorClass::io;
  }
}

base::Error system_error(const char* action, const std::string& path, std::int64_t offset,
                         int error) {
  const ErrorClass error_class = class_of_errno(error);
  if (offset == no_offset) {
    return base::failure(error_class, "%s of file \"%s\" failed: %s%s", action, path.c_str(),
                         std::strerror(error), remedy_of(error));
  }
  return base::failure(error_class, "%s of file \"%s\" at offset %lld failed: %s%s", action,
                       path.c_str(), static_cast<long long>(offset), std::strerror(error),
                       remedy_of(error));
}

}  // namespace fulmar::io
