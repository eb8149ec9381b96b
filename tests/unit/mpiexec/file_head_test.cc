// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpiexec/file_head.h"

#include <gtest/gtest.h>

#include <string>

namespace fulmar::mpiexec {
namespace {

using namespace std::string_literals;

FileHead head_of(std::string_view bytes) {
  FileHead head;
  head.set(bytes);
  return head;
}

std::string elf(const std::string& byte_order, const std::string& machine) {
  return "\177ELF\2" + byte_order + "\1" + std::string(9, '\0') + "\2\0"s + machine;
}

bool tells(const std::string& bytes, const char* what) {
  return head_of(bytes).why_refused().find(what) != std::string::npos;
}

TEST(FileHead, Scripts_are_text_up_to_the_end_of_the_first_line) {
  EXPECT_TRUE(head_of("echo a\n").is_script());
  EXPECT_TRUE(head_of("").is_script());
  EXPECT_TRUE(head_of("#!\necho a\n").is_script());
  EXPECT_TRUE(head_of("exec tail -n +2 data\n\0\0"s).is_script()) << "an archive behind a script";
  EXPECT_TRUE(head_of(std::string(1000, 'a')).is_script());
  EXPECT_FALSE(head_of("a\0b\n"s).is_script());
  EXPECT_FALSE(head_of("\177ELF\n").is_script());
  EXPECT_FALSE(head_of("#! /bin/program\n").is_script());
}

TEST(FileHead, Machines_are_named_in_either_byte_order) {
  EXPECT_TRUE(tells(elf("\1", "\xb7\0"s), "an ELF file for aarch64"));
  EXPECT_TRUE(tells(elf("\1", "\x3e\0"s), "an ELF file for x86_64"));
  EXPECT_TRUE(tells(elf("\2", "\0\x16"s), "an ELF file for s390x"));
}

}  // namespace
}  // namespace fulmar::mpiexec
