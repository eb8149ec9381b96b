// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>
#include <new>

#include "device/device.h"
#include "perf/count_steps.h"

namespace {
/// Allocations through operator new in this process.
unsigned long allocations = 0;
}  // namespace

void* operator new(std::size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes);
  if (memory == nullptr) std::abort();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

/// What an 8-byte message costs below MPI on a granted ring, waiting left out. The limits leave a
/// few instructions for another compiler; a change that needs more must say why here.
namespace fulmar::perf {
namespace {

constexpr std::uint64_t most_instructions_to_send = 75;
constexpr std::uint64_t most_instructions_to_receive = 420;

/// Two devices of one process on one mapping, with rings granted in both directions.
class Pair {
 public:
  static constexpr std::uint64_t area_bytes = 8U << 20;

  Pair()
      : memory_(::mmap(nullptr, 2 * area_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                       -1, 0)),
        pid_(static_cast<std::int32_t>(::getpid())) {
    lock_.set_enabled(false);
    for (std::uint32_t self = 0; self < 2; ++self) {
      fabric::Shm::Config shm;
      shm.self = self;
      shm.size = 2;
      shm.areas = static_cast<std::byte*>(memory_);
      shm.area_bytes = area_bytes;
      shm.processes.assign(2, {&pid_, nullptr});
      providers_[self] = std::make_unique<fabric::Shm>(shm);
      device::Device::Config config;
      config.self = self;
      config.size = 2;
      devices_[self] = std::make_unique<device::Device>(config, lock_);
      devices_[self]->use(*providers_[self]);
    }
    for (int i = 0; i < 4; ++i) exchange();
  }
  ~Pair() {
    for (auto& device : devices_) device.reset();
    ::munmap(memory_, 2 * area_bytes);
  }

  void send() {
    if (devices_[0]->send_now({0, 1, 7}, &out_, sizeof out_)) return;
    device::Operation operation;
    operation.posted.key = {0, 1, 7};
    operation.buffer = {&out_, sizeof out_, nullptr};
    devices_[0]->start_send(operation);
  }
  void receive() {
    device::Operation operation;
    operation.posted.key = {0, 0, 7};
    operation.buffer = {&in_, sizeof in_, nullptr};
    devices_[1]->start_receive(operation);
    devices_[1]->wait_done(operation);
  }
  void exchange() {
    send();
    receive();
  }
  [[nodiscard]] bool arrived() const { return in_ == out_; }

 private:
  void* memory_;
  std::atomic<std::int32_t> pid_;
  base::EngineLock lock_;
  std::unique_ptr<fabric::Shm> providers_[2];
  std::unique_ptr<device::Device> devices_[2];
  std::uint64_t out_ = 42;
  std::uint64_t in_ = 0;
};

enum class What { send, receive };

template <What what>
void program(void* argument) {
  Pair& pair = *static_cast<Pair*>(argument);
  if (what == What::receive) pair.send();
  count_steps_marker();
  what == What::send ? pair.send() : pair.receive();
  count_steps_marker();
}

template <What what>
void check(std::uint64_t most_instructions) {
  Pair pair;
  ASSERT_TRUE(pair.arrived());
  const Steps steps = count_steps(program<what>, &pair);
  if (!steps.complete) GTEST_SKIP() << "programs cannot be stepped here";
  ::testing::Test::RecordProperty("instructions", std::to_string(steps.instructions));
  std::printf("%llu instructions\n", static_cast<unsigned long long>(steps.instructions));
  EXPECT_EQ(steps.locked, 0U);
  EXPECT_EQ(steps.fences, 0U);
  EXPECT_EQ(steps.system_calls, 0U);
#ifdef NDEBUG
  EXPECT_LE(steps.instructions, most_instructions);
#else
  (void)most_instructions;
#endif
}

TEST(Cost, Send_of_eight_bytes) { check<What::send>(most_instructions_to_send); }
TEST(Cost, Receive_of_eight_bytes) { check<What::receive>(most_instructions_to_receive); }

TEST(Cost, Messages_allocate_nothing) {
  Pair pair;
  const unsigned long before = allocations;
  for (unsigned i = 0; i < 100; ++i) pair.exchange();
  EXPECT_EQ(allocations, before);
}

/// The counter itself: things that must be seen.
void locked_program(void* argument) {
  auto& word = *static_cast<std::atomic<int>*>(argument);
  count_steps_marker();
  word.fetch_add(1);
  word.exchange(3);
  ::getppid();
  count_steps_marker();
}
TEST(CountSteps, Sees_locked_instructions_and_system_calls) {
  std::atomic<int> word{0};
  const Steps steps = count_steps(locked_program, &word);
  if (!steps.complete) GTEST_SKIP() << "programs cannot be stepped here";
  EXPECT_EQ(steps.locked, 2U);
  EXPECT_EQ(steps.system_calls, 1U);
  EXPECT_GT(steps.instructions, 2U);
}

}  // namespace
}  // namespace fulmar::perf
