// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <ucontext.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

namespace simulated {

/// Functions with stacks of their own that run in one thread, one at a time; the next one is named,
/// never left to chance.
class Fibers {
 public:
  /// `count` fibers, each of which will call `body` with its number.
  Fibers(int count, std::function<void(int)> body);
  ~Fibers();
  Fibers(const Fibers&) = delete;
  Fibers& operator=(const Fibers&) = delete;

  /// Outside of all fibers: lets one go on that is not over. Returns when one of them is over.
  void run(int fiber);
  /// Within a fiber: lets another one go on, and returns when this one may.
  void pass_to(int fiber);

  [[nodiscard]] bool over(int fiber) const { return fibers_[index(fiber)]->over; }
  /// The one that runs; -1: none.
  [[nodiscard]] int current() const { return current_; }

 private:
  struct Context {
    ucontext_t registers{};
    // What the address sanitizer wants to know of a stack.
    const void* stack = nullptr;
    std::size_t stack_bytes = 0;
    void* shadow = nullptr;
  };
  struct Fiber : Context {
    bool over = false;
  };
  enum class Leaves : bool { for_now, for_good };

  static std::size_t index(int fiber) { return static_cast<std::size_t>(fiber); }
  void prepare(Fiber& fiber, void* stack);
  static void enter(unsigned high, unsigned low);
  void body_of_current();
  void change(Context& from, Context& to, Leaves how);

  std::function<void(int)> body_;
  void* stacks_ = nullptr;
  std::vector<std::unique_ptr<Fiber>> fibers_;
  Context outside_;
  Context* left_ = nullptr;  ///< the fiber that has switched to the running one
  int current_ = -1;
};

}  // namespace simulated
