// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/storage.h"

#include <fcntl.h>
#include <linux/io_uring.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string_view>

#include "base/os/fd.h"

namespace fulmar::io {
namespace {

Storage::Exists existing(const std::string& path) {
  struct stat facts{};
  if (::stat(path.c_str(), &facts) == 0) {
    return S_ISDIR(facts.st_mode) ? Storage::Exists::folder : Storage::Exists::file;
  }
  return ::stat(folder_of(path).c_str(), &facts) == 0 ? Storage::Exists::folder_only
                                                      : Storage::Exists::no_folder;
}

std::string real_path(const std::string& path) {
  std::array<char, PATH_MAX> resolved{};
  return ::realpath(path.c_str(), resolved.data()) != nullptr ? resolved.data() : path;
}

/// Blanks and the like are encoded as three octal digits behind a backslash.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto is_octal = [&](std::size_t i) { return text[i] >= '0' && text[i] <= '7'; };
    if (text[at] == '\\' && at + 3 < text.size() && is_octal(at + 1) && is_octal(at + 2) &&
        is_octal(at + 3)) {
      plain += static_cast<char>((text[at + 1] - '0') * 64 + (text[at + 2] - '0') * 8 +
                                 (text[at + 3] - '0'));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

bool lies_in(const std::string& path, const std::string& folder) {
  if (folder == "/") return path.starts_with('/');
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

/// A lock of one byte that no file has.
void try_lock(Storage& storage, const std::string& path) {
  base::UniqueFd file(storage.exists == Storage::Exists::file
                          ? ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
                          : ::open(storage.exists == Storage::Exists::folder
                                       ? path.c_str()
                                       : folder_of(path).c_str(),
                                   O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
  storage.lock_error = errno;
  if (!file.valid()) return;
  struct flock lock{};
  lock.l_type = F_RDLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = std::int64_t{1} << 61;
  lock.l_len = 1;
  const bool granted = ::fcntl(file.get(), F_OFD_SETLK, &lock) == 0;
  storage.lock_error = granted ? 0 : errno;
  storage.locks = granted ? Storage::Locks::work : Storage::Locks::refused;
}

int try_io_uring() {
  io_uring_params parameters{};
  const base::UniqueFd ring(static_cast<int>(::syscall(SYS_io_uring_setup, 1, &parameters)));
  return ring.valid() ? 0 : errno;
}

}  // namespace

/// A line is: number, parent, device, root, mount point, options, optional fields, -, type, source,
/// options of the file system. The last match counts: it is mounted over the others.
Mount find_mount(const std::string& mountinfo, const std::string& real_path) {
  Mount found;
  std::istringstream lines(mountinfo);
  std::string line;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string skipped;
    std::string point;
    std::string options;
    if (!(words >> skipped >> skipped >> skipped >> skipped >> point >> options)) continue;
    while (words >> skipped && skipped != "-") {
    }
    std::string source;
    words >> skipped >> source;
    point = unescaped(point);
    if (lies_in(real_path, point) && point.size() >= found.point.size()) {
      found = {point, unescaped(source), options};
    }
  }
  return found;
}

Storage find_storage(const std::string& path) {
  Storage storage;
  storage.exists = existing(path);
  if (storage.exists == Storage::Exists::no_folder) return storage;
  const std::string place = storage.exists == Storage::Exists::folder_only ? folder_of(path) : path;
  struct statfs facts{};
  if (::statfs(place.c_str(), &facts) == 0) {
    storage.magic = static_cast<std::uint32_t>(facts.f_type);
    storage.block_bytes = static_cast<std::int64_t>(facts.f_bsize);
    storage.total_bytes = std::uint64_t{facts.f_blocks} * static_cast<std::uint64_t>(facts.f_bsize);
    storage.free_bytes = std::uint64_t{facts.f_bavail} * static_cast<std::uint64_t>(facts.f_bsize);
  }
  storage.system = file_system_of(path);
  std::ifstream mountinfo("/proc/self/mountinfo");
  const Mount mount = find_mount({std::istreambuf_iterator<char>(mountinfo), {}}, real_path(place));
  storage.mount_point = mount.point;
  storage.mounted_from = mount.source;
  storage.mount_options = mount.options;
  storage.stripes = stripes_of(place);
  try_lock(storage, path);
  storage.io_uring_error = try_io_uring();
  return storage;
}

}  // namespace fulmar::io
