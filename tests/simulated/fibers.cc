// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "simulated/fibers.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

namespace simulated {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t stack_bytes = std::size_t{8} << 20;
#else
constexpr std::size_t stack_bytes = std::size_t{1} << 20;
#endif
constexpr std::size_t guard_bytes = 64U << 10;
/// Each guard makes two mappings more, of which a process may have some 65,000.
constexpr int most_guarded = 4096;

[[noreturn]] void fail() {
  std::perror("stacks for fibers");
  std::abort();
}

}  // namespace

Fibers::Fibers(int count, std::function<void(int)> body) : body_(std::move(body)) {
  stacks_ = ::mmap(nullptr, index(count) * (guard_bytes + stack_bytes), PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (stacks_ == MAP_FAILED) fail();
  for (int i = 0; i < count; ++i) {
    fibers_.push_back(std::make_unique<Fiber>());
    std::byte* const memory =
        static_cast<std::byte*>(stacks_) + index(i) * (guard_bytes + stack_bytes);
    if (count <= most_guarded && ::mprotect(memory, guard_bytes, PROT_NONE) != 0) fail();
    prepare(*fibers_.back(), memory + guard_bytes);
  }
}

void Fibers::prepare(Fiber& fiber, void* stack) {
  fiber.stack = stack;
  fiber.stack_bytes = stack_bytes;
  ::getcontext(&fiber.registers);
  fiber.registers.uc_stack.ss_sp = stack;
  fiber.registers.uc_stack.ss_size = stack_bytes;
  fiber.registers.uc_link = nullptr;
  // Arguments are ints.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  ::makecontext(&fiber.registers, reinterpret_cast<void (*)()>(enter), 2,
                static_cast<unsigned>(self >> 32), static_cast<unsigned>(self));
}

Fibers::~Fibers() { ::munmap(stacks_, fibers_.size() * (guard_bytes + stack_bytes)); }

void Fibers::run(int fiber) {
  current_ = fiber;
  change(outside_, *fibers_[index(fiber)], Leaves::for_now);
  current_ = -1;
}

void Fibers::pass_to(int fiber) {
  if (fiber == current_) return;
  Fiber& from = *fibers_[index(std::exchange(current_, fiber))];
  change(from, *fibers_[index(fiber)], Leaves::for_now);
}

void Fibers::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fibers*>(std::uintptr_t{high} << 32 | low);
  self->body_of_current();
}

void Fibers::body_of_current() {
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(nullptr, &left_->stack, &left_->stack_bytes);
#endif
  const int number = current_;
  body_(number);
  Fiber& fiber = *fibers_[index(number)];
  fiber.over = true;
  change(fiber, outside_, Leaves::for_good);
}

void Fibers::change(Context& from, Context& to, Leaves how) {
  left_ = &from;
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_start_switch_fiber(how == Leaves::for_now ? &from.shadow : nullptr, to.stack,
                                 to.stack_bytes);
#else
  static_cast<void>(how);
#endif
  ::swapcontext(&from.registers, &to.registers);
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_finish_switch_fiber(from.shadow, &left_->stack, &left_->stack_bytes);
#endif
}

}  // namespace simulated
