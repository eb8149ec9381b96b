// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "io/file_system/striping.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "io/file_system/file_system.h"

namespace fulmar::io {
namespace {

/// Lustre's description of a file in the interface of its client, as far as all files have it.
struct Layout {
  std::uint32_t magic;
  std::uint32_t pattern;
  std::uint64_t object[2];
  std::uint32_t stripe_bytes;
  std::uint16_t stripe_count;
  std::uint16_t first;  ///< server
};
static_assert(sizeof(Layout) == 32);

constexpr std::uint32_t version_1 = 0x0bd10bd0;
constexpr std::uint32_t version_3 = 0x0bd30bd0;
constexpr std::uint32_t plain_stripes = 1;
constexpr std::uint16_t any_server = 0xffff;
constexpr std::int64_t stripe_granule = 64 << 10;
constexpr std::int64_t largest_stripe = (std::int64_t{1} << 32) - stripe_granule;
/// Of open: no servers are chosen yet. Older clients know the first bit, newer ones the other two, which mean nothing for
/// files elsewhere.
constexpr int choose_servers_later = 0100000000 | O_NOCTTY | FASYNC;
constexpr unsigned long set_stripes = _IOW('f', 154, long);

Layout layout_for(const Stripes& wanted) noexcept {
  std::int64_t bytes = (wanted.bytes + stripe_granule - 1) / stripe_granule * stripe_granule;
  if (bytes > largest_stripe) bytes = largest_stripe;
  return {version_1,
          plain_stripes,
          {0, 0},
          static_cast<std::uint32_t>(bytes),
          static_cast<std::uint16_t>(wanted.count),
          any_server};
}

}  // namespace

Stripes stripes_of(const std::string& path) {
  constexpr std::size_t most_bytes = 65536;
  const auto room = std::make_unique<char[]>(most_bytes);
  const ssize_t bytes = ::getxattr(path.c_str(), "lustre.lov", room.get(), most_bytes);
  Layout layout{};
  if (bytes < static_cast<ssize_t>(sizeof layout)) return {};
  std::memcpy(&layout, room.get(), sizeof layout);
  if (layout.magic != version_1 && layout.magic != version_3) return {};
  return {layout.stripe_bytes, layout.stripe_count};
}

base::UniqueFd make_striped(const std::string& path, int flags, mode_t permissions,
                            const Stripes& wanted) {
  if (!is_lustre(folder_of(path))) return {};
  const int new_file = O_CREAT | O_EXCL | O_CLOEXEC | choose_servers_later;
  base::UniqueFd file(::open(path.c_str(), flags | new_file, permissions));
  if (!file.valid()) return {};
  Layout layout = layout_for(wanted);
  (void)::ioctl(file.get(), set_stripes, &layout);
  return file;
}

}  // namespace fulmar::io
