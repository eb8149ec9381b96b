// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "device/regcache/registrations.h"
#include "unit/device/pinning_adapter.h"

/// Threads that map, unmap, empty, move, fork and free while they send from the same memory. What
/// is sent is read from the pages that an adapter has pinned and compared with what the processor
/// sees at the same addresses; what is received is written to the pinned pages. A registration that
/// is stale has other pages than the program: the bytes differ. (The first test shows that they
/// do.) FULMAR_TEST_SECONDS and FULMAR_TEST_SEED make it longer, and different.
namespace fulmar::device {
namespace {

using base::MemoryWatch;
using fabric::Access;

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
constexpr std::size_t most_pages = 16;

std::string setting(const char* name, const char* otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : text;
}

std::byte* map_pages(std::size_t pages, void* at = nullptr) {
  const int fixed = at == nullptr ? 0 : MAP_FIXED;
  void* const memory =
      ::mmap(at, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | fixed, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

void fill(std::span<std::byte> memory, std::uint64_t stamp) {
  for (std::size_t at = 0; at + sizeof stamp <= memory.size(); at += sizeof stamp) {
    std::memcpy(memory.data() + at, &stamp, sizeof stamp);
    stamp += 0x9e3779b97f4a7c15U;
  }
}

/// What is shared, under one lock as in a process with MPI_THREAD_MULTIPLE.
struct Engine {
  explicit Engine(MemoryWatch* the_watch) : watch(the_watch) {}

  void fail(const std::string& what) {
    const std::lock_guard guard(failure_lock);
    if (first_failure.empty()) first_failure = what;
  }
  [[nodiscard]] std::string failure() {
    const std::lock_guard guard(failure_lock);
    return first_failure;
  }
  /// Whether memory was found open, and was found changed.
  [[nodiscard]] bool has_seen_both() {
    const std::lock_guard guard(lock);
    return !failure().empty() || (cache.figures().hits != 0 && cache.figures().unlisted != 0);
  }

  std::mutex lock;
  PinningAdapter adapter{most_pages * page};
  MemoryWatch* watch;
  Registrations cache{adapter, watch, {.bytes = 256 * page, .regions = 64}};
  std::mutex failure_lock;
  std::string first_failure;
  std::uint64_t transfers = 0;
};

TEST(RegistrationsTorture, an_adapter_with_stale_pages_is_noticed) {
  Engine engine(nullptr);
  if (!engine.adapter.refusal().empty()) GTEST_SKIP() << engine.adapter.refusal();
  const std::span<std::byte> memory(map_pages(2), 2 * page);
  std::vector<std::byte> seen(memory.size());
  fill(memory, 1);
  engine.cache.own(memory);  // a lie
  auto first = engine.cache.take(memory, Access::peers_read);
  ASSERT_TRUE(first.ok()) << first.error().text();
  ASSERT_TRUE(engine.adapter.read((*first)->opened().rkey, memory, seen));
  EXPECT_EQ(std::memcmp(seen.data(), memory.data(), memory.size()), 0);
  engine.cache.give_back(**first);
  map_pages(2, memory.data());
  fill(memory, 2);
  auto second = engine.cache.take(memory, Access::peers_read);
  ASSERT_TRUE(engine.adapter.read((*second)->opened().rkey, memory, seen));
  EXPECT_NE(std::memcmp(seen.data(), memory.data(), memory.size()), 0);
  engine.cache.give_back(**second);
  ::munmap(memory.data(), memory.size());
}

/// One thread of the program with buffers of its own.
class Worker {
 public:
  Worker(Engine& engine, std::uint32_t seed) : engine_(engine), random_(seed), stamp_(seed) {
    stamp_ <<= 32U;
  }
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() {
    while (!buffers_.empty()) drop();
  }

  void step() {
    if (buffers_.size() < 4) make();
    std::swap(buffers_[random_() % buffers_.size()], buffers_.back());
    const unsigned what = random_() % 16;
    if (what < 10) {
      transfer(buffers_.back().memory);
    } else if (what < 13) {
      drop();
      make();
      transfer(buffers_.back().memory);
    } else {
      change(buffers_.back());
    }
  }
  /// Sends a part of it, or receives into it.
  void transfer(std::span<std::byte> whole) {
    const std::size_t begin = random_() % (whole.size() / 64) * 64;
    const auto memory = whole.subspan(begin, 64 + random_() % ((whole.size() - begin) / 64) * 64);
    const auto access = static_cast<Access>(random_() % 3);
    fill(memory, ++stamp_);
    Registration* taken = nullptr;
    {
      const std::lock_guard guard(engine_.lock);
      auto answer = engine_.cache.take(memory, access);
      if (answer.failed()) return fail(answer.error().text());
      taken = *answer;
    }
    if (random_() % 4 == 0) std::this_thread::yield();
    const std::lock_guard guard(engine_.lock);
    move(memory, taken->opened().lkey, access);
    engine_.cache.give_back(*taken);
    ++engine_.transfers;
  }

 private:
  struct Buffer {
    std::span<std::byte> memory;
    bool is_heap;
  };

  void fail(const std::string& what) { engine_.fail(what); }
  void move(std::span<std::byte> memory, std::uint32_t key, Access access) {
    seen_.resize(memory.size());
    if (access == Access::peers_read) {
      if (!engine_.adapter.read(key, memory, seen_)) return fail("the adapter cannot read");
    } else {
      fill(seen_, ++stamp_);
      if (!engine_.adapter.write(key, memory, seen_)) return fail("the adapter cannot write");
    }
    if (std::memcmp(seen_.data(), memory.data(), memory.size()) != 0) {
      fail("stale: the adapter and the program see different pages");
    }
  }
  void make() {
    const std::size_t bytes = (1 + random_() % most_pages) * page;
    const bool is_heap = random_() % 4 == 0;
    auto* const memory =
        is_heap ? static_cast<std::byte*>(std::malloc(bytes)) : map_pages(bytes / page);
    if (memory == nullptr) return fail("no memory");
    buffers_.push_back({{memory, bytes}, is_heap});
  }
  void drop() {
    const Buffer buffer = buffers_.back();
    buffers_.pop_back();
    if (buffer.is_heap) {
      std::free(buffer.memory.data());
    } else {
      ::munmap(buffer.memory.data(), buffer.memory.size());
    }
  }
  void change(Buffer& buffer) {
    if (random_() % 8 == 0) return fork_once();
    if (buffer.is_heap) return;
    const std::size_t pages = buffer.memory.size() / page;
    const std::size_t first = random_() % pages;
    std::byte* const at = buffer.memory.data() + first * page;
    const std::size_t count = 1 + random_() % (pages - first);
    switch (random_() % 5) {
      case 0:
        map_pages(count, at);
        break;
      case 1:
        if (first == 0) return;
        ::munmap(at, (pages - first) * page);
        buffer.memory = buffer.memory.first(first * page);
        break;
      case 2:
        ::madvise(at, count * page, MADV_DONTNEED);
        break;
      case 3:
        ::madvise(at, count * page, MADV_FREE);
        break;
      default:
        carry(buffer);
    }
    transfer(buffer.memory);
  }
  void carry(Buffer& buffer) {
    std::byte* const to = map_pages(buffer.memory.size() / page);
    // Page by page: a part that is watched is a mapping of its own, and only one can be moved.
    for (std::size_t at = 0; at < buffer.memory.size(); at += page) {
      if (::mremap(buffer.memory.data() + at, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, to + at) ==
          MAP_FAILED) {
        return fail("mremap failed");
      }
    }
    buffer.memory = {to, buffer.memory.size()};
  }
  void fork_once() {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(0);
    if (child > 0) ::waitpid(child, nullptr, 0);
  }

  Engine& engine_;
  std::mt19937 random_;
  std::uint64_t stamp_;
  std::vector<Buffer> buffers_;
  std::vector<std::byte> seen_;
};

/// Sends from the top of the heap while it grows and shrinks. For the first thread alone: the C
/// library serves all others from mappings.
void move_break(Worker& worker, std::mt19937& random) {
  const std::size_t pages = 1 + random() % most_pages;
  auto* const before = static_cast<std::byte*>(::sbrk(0));
  const std::size_t pad = page - reinterpret_cast<std::uintptr_t>(before) % page;
  const auto bytes = static_cast<std::intptr_t>(pad + pages * page);
  if (::sbrk(bytes) != before) return;
  worker.transfer({before + pad, pages * page});
  worker.transfer({before + pad, pages * page});
  if (::sbrk(0) == before + bytes) ::sbrk(-bytes);
}

TEST(RegistrationsTorture, no_registration_is_ever_stale) {
  const std::span<std::byte> first(map_pages(1), page);
  MemoryWatch watch;
  const base::Error error = watch.watch(base::range_of(first));
  if (error.failed()) GTEST_SKIP() << error.text();
  Engine engine(&watch);
  if (!engine.adapter.refusal().empty()) GTEST_SKIP() << engine.adapter.refusal();
  const auto seed = static_cast<std::uint32_t>(std::stoull(setting("FULMAR_TEST_SEED", "1")));
  const auto end = std::chrono::steady_clock::now() +
                   std::chrono::duration<double>(std::stod(setting("FULMAR_TEST_SECONDS", "0.7")));
  std::atomic<bool> is_over{false};
  std::vector<std::thread> threads;
  for (std::uint32_t i = 1; i <= 4; ++i) {
    threads.emplace_back([&, i] {
      Worker worker(engine, seed + i);
      while (!is_over) worker.step();
    });
  }
  {
    Worker worker(engine, seed);
    std::mt19937 random(seed);
    while (std::chrono::steady_clock::now() < end || !engine.has_seen_both()) {
      move_break(worker, random);
      worker.step();
    }
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(engine.failure(), "") << "seed " << seed;
  const Registrations::Figures& figures = engine.cache.figures();
  RecordProperty("figures", "transfers " + std::to_string(engine.transfers) + ", hits " +
                                std::to_string(figures.hits) + ", unlisted " +
                                std::to_string(figures.unlisted) + ", not kept " +
                                std::to_string(figures.not_kept));
  watch.unwatch(base::range_of(first));
  ::munmap(first.data(), first.size());
}

}  // namespace
}  // namespace fulmar::device
