// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstdint>

namespace fulmar::base::arch {

/// Asks valgrind something: a code of "valgrind/valgrind.h" or of a tool's header, and what goes
/// with it. valgrind, which translates every instruction, knows the sequence below as its own; a
/// processor executes it without effect in a few cycles, and the answer is 0. Written here so that
/// a library built without valgrind's headers can be run under it.
inline std::uintptr_t valgrind_request(std::uintptr_t code, std::uintptr_t first = 0,
                                       std::uintptr_t second = 0) noexcept {
  std::uintptr_t answer = 0;
  const std::array<std::uintptr_t, 6> words{code, first, second, 0, 0, 0};
#if defined(__x86_64__)
  // rdi turned by 128 bits in all; rax: the words; rdx: the answer.
  asm volatile(
      "rolq $3, %%rdi\n\t"
      "rolq $13, %%rdi\n\t"
      "rolq $61, %%rdi\n\t"
      "rolq $51, %%rdi\n\t"
      "xchgq %%rbx, %%rbx"
      : "+d"(answer)
      : "a"(words.data())
      : "cc", "memory");
#elif defined(__aarch64__)
  // x12 turned by 128 bits in all; x4: the words; x3: the answer.
  register std::uintptr_t answer_register asm("x3") = answer;
  register const std::uintptr_t* words_register asm("x4") = words.data();
  asm volatile(
      "ror x12, x12, #3\n\t"
      "ror x12, x12, #13\n\t"
      "ror x12, x12, #51\n\t"
      "ror x12, x12, #61\n\t"
      "orr x10, x10, x10"
      : "+r"(answer_register)
      : "r"(words_register)
      : "cc", "memory");
  answer = answer_register;
#else
  (void)words;
#endif
  return answer;
}

}  // namespace fulmar::base::arch
