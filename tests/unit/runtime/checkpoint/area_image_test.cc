// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "runtime/checkpoint/area_image.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>

#include "base/os/fd.h"

namespace fulmar::runtime {
namespace {

constexpr std::size_t bytes = std::size_t{5} << 20;  // not a multiple of the pieces
constexpr std::size_t page = AreaImage::page_bytes;

/// An area in the middle of a memory file, as in that of a job.
class Area {
 public:
  Area() : file_(::memfd_create("area", MFD_CLOEXEC)) {
    EXPECT_EQ(::ftruncate(file_.get(), 3 * bytes), 0);
    memory_ = static_cast<std::byte*>(
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.get(), bytes));
  }
  Area(const Area&) = delete;
  Area& operator=(const Area&) = delete;
  ~Area() { ::munmap(memory_, bytes); }
  [[nodiscard]] std::span<std::byte> span() const { return {memory_, bytes}; }
  [[nodiscard]] AreaImage::File file() const { return {file_.get(), bytes}; }

 private:
  base::UniqueFd file_;
  std::byte* memory_;
};

TEST(AreaImage, An_untouched_area_takes_nothing) {
  const Area area;
  AreaImage image;
  image.save(area.span(), area.file());
  EXPECT_EQ(image.bytes(), 0U);
}

TEST(AreaImage, Pages_with_a_single_byte_come_back_where_they_were) {
  const Area area;
  const Area other;
  const std::size_t places[] = {0, page - 1, page, 700 * page + 5, bytes - 1};
  for (const std::size_t at : places) area.span()[at] = static_cast<std::byte>(at % 251 + 1);
  AreaImage image;
  image.save(area.span(), area.file());
  EXPECT_EQ(image.bytes(), 4 * page);
  image.restore(other.span());
  EXPECT_EQ(image.bytes(), 0U);
  std::size_t found = 0;
  for (std::size_t at = 0; at < bytes; ++at) {
    if (other.span()[at] == std::byte{0}) continue;
    EXPECT_EQ(other.span()[at], static_cast<std::byte>(at % 251 + 1));
    EXPECT_NE(std::ranges::find(places, at), std::end(places));
    ++found;
  }
  EXPECT_EQ(found, std::size(places));
}

TEST(AreaImage, Without_the_file_all_pages_are_looked_at) {
  const Area area;
  area.span()[700 * page] = std::byte{9};
  AreaImage image;
  image.save(area.span(), {});
  EXPECT_EQ(image.bytes(), page);
  image.restore(area.span());
  EXPECT_EQ(area.span()[700 * page], std::byte{9});
}

TEST(AreaImage, Saving_gives_the_memory_back) {
  const Area area;
  area.span()[3 * page] = std::byte{7};
  AreaImage image;
  image.save(area.span(), area.file());
  EXPECT_EQ(area.span()[3 * page], std::byte{0});
}

TEST(AreaImage, The_next_image_forgets_the_last_one) {
  const Area area;
  area.span()[0] = std::byte{1};
  AreaImage image;
  image.save(area.span(), area.file());
  area.span()[9 * page] = std::byte{2};
  image.save(area.span(), area.file());
  EXPECT_EQ(image.bytes(), page);
  image.restore(area.span());
  EXPECT_EQ(area.span()[0], std::byte{0});
  EXPECT_EQ(area.span()[9 * page], std::byte{2});
}

}  // namespace
}  // namespace fulmar::runtime
