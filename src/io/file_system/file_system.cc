// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/file_system/file_system.h"

#include <strings.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "io/file_system/striping.h"

namespace fulmar::io {
namespace {

constexpr std::array<std::string_view, 10> prefixes = {
    "ufs", "nfs", "xfs", "lustre", "gpfs", "pvfs2", "panfs", "beegfs", "testfs", "quobyte",
};

struct Known {
  std::uint32_t magic;
  FileSystem facts;
};

constexpr std::int64_t page = 4096;
constexpr std::int64_t mebibyte = 1 << 20;

constexpr std::uint32_t lustre = 0x0bd00bd0;

constexpr std::array<Known, 16> known = {{
    {0x0000ef53, {"ext4", false, page, true}},
    {0x58465342, {"xfs", false, page, true}},
    {0x9123683e, {"btrfs", false, page}},
    {0x01021994, {"tmpfs", false, page, true, true}},
    {0x858458f6, {"ramfs", false, page, false, true}},
    {0x794c7630, {"overlayfs", false, page}},
    {0x2fc12fc1, {"zfs", false, 128 * 1024}},
    {0x65735546, {"fuse", true, mebibyte}},
    {0x00006969, {"nfs", true, mebibyte, false, false, true}},
    {0xff534d42, {"cifs", true, mebibyte, false, false, true}},
    {0xfe534d42, {"smb2", true, mebibyte, false, false, true}},
    {0x01021997, {"9p", true, mebibyte, false, false, true}},
    {lustre, {"lustre", true, mebibyte}},
    {0x47504653, {"gpfs", true, mebibyte}},
    {0x19830326, {"beegfs", true, mebibyte}},
    {0x00c36400, {"ceph", true, mebibyte}},
}};

/// Of Linux, from which on such a file system may keep parts of files as large pages.
struct LargePages {
  std::string_view name;
  std::pair<int, int> since;
};

constexpr std::array<LargePages, 2> large_pages = {{{"ext4", {6, 16}}, {"xfs", {5, 18}}}};

bool may_have_large_pages(std::string_view name) noexcept {
  const auto* const found =
      std::find_if(large_pages.begin(), large_pages.end(),
                   [name](const LargePages& each) { return each.name == name; });
  if (found == large_pages.end()) return false;
  utsname system{};
  std::pair<int, int> version;
  return ::uname(&system) == 0 &&
         std::sscanf(system.release, "%d.%d", &version.first, &version.second) == 2 &&
         version >= found->since;
}

}  // namespace

std::string_view without_prefix(std::string_view name) noexcept {
  const std::size_t colon = name.find(':');
  if (colon == std::string_view::npos) return name;
  for (const std::string_view prefix : prefixes) {
    if (prefix.size() == colon && ::strncasecmp(prefix.data(), name.data(), colon) == 0) {
      return name.substr(colon + 1);
    }
  }
  return name;
}

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

void FileSystem::respect(const FileSystem& other) noexcept {
  remote = remote || other.remote;
  unit_bytes = std::max(unit_bytes, other.unit_bytes);
  maps = maps && other.maps;
  has_client_caches = has_client_caches || other.has_client_caches;
}

bool is_lustre(const std::string& path) {
  struct statfs facts{};
  return ::statfs(path.c_str(), &facts) == 0 && static_cast<std::uint32_t>(facts.f_type) == lustre;
}

FileSystem file_system_of(const std::string& path) {
  struct statfs facts{};
  if (::statfs(path.c_str(), &facts) != 0 && ::statfs(folder_of(path).c_str(), &facts) != 0) {
    return {};
  }
  const auto magic = static_cast<std::uint32_t>(facts.f_type);
  for (const Known& each : known) {
    if (each.magic != magic) continue;
    FileSystem system = each.facts;
    system.has_large_pages = may_have_large_pages(system.name);
    if (magic == lustre) {
      const Stripes stripes = stripes_of(path);
      if (stripes.bytes > 0) system.unit_bytes = stripes.bytes;
      system.stripe_count = stripes.count;
    }
    return system;
  }
  return {};
}

}  // namespace fulmar::io
