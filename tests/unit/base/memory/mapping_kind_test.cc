// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/memory/mapping_kind.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/os/fd.h"

namespace fulmar::base {
namespace {

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

std::array<int, 64> zeros;
std::array<int, 64> numbers = {1, 2, 3};

AddressRange map(std::size_t bytes, int flags, int fd = -1) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  EXPECT_NE(memory, MAP_FAILED);
  const auto begin = reinterpret_cast<std::uintptr_t>(memory);
  return {begin, begin + bytes};
}

void unmap(const AddressRange& range) {
  ::munmap(reinterpret_cast<void*>(range.begin), range.bytes());
}

/// A list of mappings of our own.
class MapsFile {
 public:
  explicit MapsFile(const std::string& text) {
    std::array<char, 32> name = {"/tmp/fulmar_maps_XXXXXX"};
    file_.reset(::mkstemp(name.data()));
    EXPECT_EQ(::write(file_.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    ::unlink(name.data());
    path_ = "/proc/self/fd/" + std::to_string(file_.get());
  }
  [[nodiscard]] MappingKind kind(std::uintptr_t begin, std::uintptr_t end) const {
    return mapping_kind({begin, end}, path_.c_str());
  }

 private:
  UniqueFd file_;
  std::string path_;
};

TEST(MappingKind, heap_and_anonymous_mappings_are_private_memory) {
  const AddressRange mapping = map(4 * page, MAP_PRIVATE | MAP_ANONYMOUS);
  EXPECT_EQ(mapping_kind(mapping), MappingKind::anonymous);
  unmap(mapping);
  void* const heap = std::malloc(100);
  const auto begin = reinterpret_cast<std::uintptr_t>(heap);
  EXPECT_EQ(mapping_kind({begin, begin + 100}), MappingKind::anonymous);
  std::free(heap);
}

TEST(MappingKind, what_others_can_empty_is_told_apart) {
  const AddressRange shared = map(page, MAP_SHARED | MAP_ANONYMOUS);
  EXPECT_EQ(mapping_kind(shared), MappingKind::shared);
  unmap(shared);
  const UniqueFd file(::memfd_create("memory_kind_test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(page)), 0);
  const AddressRange copy = map(page, MAP_PRIVATE, file.get());
  EXPECT_EQ(mapping_kind(copy), MappingKind::file);
  unmap(copy);
  EXPECT_EQ(mapping_kind(range_of(std::as_bytes(std::span(numbers)))), MappingKind::file);
}

TEST(MappingKind, stack_of_the_first_thread_is_told_apart) {
  // A sanitizer may keep variables elsewhere.
  const auto begin = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  EXPECT_EQ(mapping_kind({begin, begin + 1}), MappingKind::stack);
}

TEST(MappingKind, the_first_part_that_is_not_private_memory_decides) {
  const AddressRange whole = map(3 * page, MAP_PRIVATE | MAP_ANONYMOUS);
  void* const middle = reinterpret_cast<void*>(whole.begin + page);
  ASSERT_NE(::mmap(middle, page, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  EXPECT_EQ(mapping_kind(whole), MappingKind::shared);
  EXPECT_EQ(mapping_kind({whole.begin, whole.begin + page}), MappingKind::anonymous);
  ::munmap(middle, page);
  EXPECT_EQ(mapping_kind(whole), MappingKind::unmapped);
  EXPECT_EQ(mapping_kind({whole.begin + page, whole.begin + page + 1}), MappingKind::unmapped);
  EXPECT_EQ(mapping_kind({whole.begin + 2 * page, whole.end}), MappingKind::anonymous);
  unmap(whole);
}

TEST(MappingKind, lines_of_all_forms_are_understood) {
  const MapsFile maps(
      "00001000-00002000 rw-p 00000000 00:00 0\n"
      "00002000-00004000 rw-p 00000000 00:00 0                          [heap]\n"
      "00004000-00005000 rw-p 00000000 00:00 0                          [anon:a pool]\n"
      "00005000-00006000 r--p 00000000 00:00 0                          [vvar]\n"
      "00200000-00400000 rw-p 00000000 00:10 77                         /anon_hugepage (deleted)\n"
      "00400000-00401000 rw-p 00001000 08:01 42                         /a b/c\n"
      "ffff000000000000-ffff000000001000 rw-s 00000000 00:01 1          /dev/shm/x\n");
  EXPECT_EQ(maps.kind(0x1000, 0x5000), MappingKind::anonymous);
  EXPECT_EQ(maps.kind(0x1fff, 0x2001), MappingKind::anonymous);
  EXPECT_EQ(maps.kind(0x1000, 0x5001), MappingKind::special);
  EXPECT_EQ(maps.kind(0x0, 0x1001), MappingKind::unmapped);
  EXPECT_EQ(maps.kind(0x200000, 0x200001), MappingKind::huge_pages);
  EXPECT_EQ(maps.kind(0x400000, 0x401000), MappingKind::file);
  EXPECT_EQ(maps.kind(0xffff000000000800, 0xffff000000001000), MappingKind::shared);
  EXPECT_EQ(maps.kind(0xffff000000001000, 0xffff000000001001), MappingKind::unmapped);
}

TEST(MappingKind, many_and_long_lines_are_read_to_the_end) {
  std::string text;
  std::array<char, 64> line;
  for (unsigned i = 1; i <= 2000; ++i) {
    std::snprintf(line.data(), line.size(), "%08x-%08x rw-p 00000000 08:01 42 ", i << 12U,
                  (i << 12U) + 0x1000);
    text += line.data() + std::string("/") + std::string(i % 7 == 0 ? 4000 : i % 50, 'x') + "\n";
  }
  text += "10000000-10001000 rw-p 00000000 00:00 0 \n";
  const MapsFile maps(text);
  EXPECT_EQ(maps.kind(0x10000000, 0x10001000), MappingKind::anonymous);
}

TEST(MappingKind, what_cannot_be_read_is_special) {
  EXPECT_EQ(mapping_kind({page, 2 * page}, "/nowhere"), MappingKind::special);
  EXPECT_EQ(MapsFile("no mapping\n").kind(page, 2 * page), MappingKind::special);
  EXPECT_EQ(MapsFile("1000 rw-p 0 0:0 0\n").kind(page, 2 * page), MappingKind::special);
  EXPECT_EQ(MapsFile("").kind(page, 2 * page), MappingKind::special);
}

TEST(MappingKind, zero_initialised_variables_are_private_memory_beside_their_first_page) {
  // The first may share its page with the last initial values.
  const MappingKind kind = mapping_kind(range_of(std::as_bytes(std::span(zeros))));
  EXPECT_TRUE(kind == MappingKind::anonymous || kind == MappingKind::file)
      << mapping_kind_text(kind);
}

}  // namespace
}  // namespace fulmar::base
