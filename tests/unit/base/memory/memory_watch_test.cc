// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "base/memory/memory_watch.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

/// Real changes of real memory. All tests but the last are skipped where userfaultfd is denied.
namespace fulmar::base {
namespace {

const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));

/// Some pages of private memory. They are never given back: a test may have unmapped or moved some
/// of them, and where they were is then the stack of a thread, or of a sanitizer.
class Pages {
 public:
  explicit Pages(std::size_t count) : bytes_(count * page) {
    void* const memory =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    memory_ = static_cast<std::byte*>(memory);
    std::memset(memory_, 1, bytes_);
  }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;

  [[nodiscard]] std::byte* at(std::size_t number) const { return memory_ + number * page; }
  [[nodiscard]] AddressRange range(std::size_t first, std::size_t count) const {
    return range_of({at(first), count * page});
  }
  [[nodiscard]] AddressRange range() const { return range_of({memory_, bytes_}); }

 private:
  std::size_t bytes_;
  std::byte* memory_;
};

/// The part of an event that lies in some pages.
AddressRange common(const AddressRange& a, const AddressRange& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

class Recorder final : public MemoryWatch::Listener {
 public:
  void memory_changed(const AddressRange& range) noexcept override { changes_.push_back(range); }
  /// What has been told of these addresses, from the lowest to the highest.
  [[nodiscard]] AddressRange told(const AddressRange& of) const {
    AddressRange all{};
    for (const AddressRange& change : changes_) {
      if (!change.overlaps(of)) continue;
      const AddressRange part = common(change, of);
      all = all.empty()
                ? part
                : AddressRange{std::min(all.begin, part.begin), std::max(all.end, part.end)};
    }
    return all;
  }
  void clear() { changes_.clear(); }

 private:
  std::vector<AddressRange> changes_;
};

class MemoryWatchTest : public testing::Test {
 protected:
  void SetUp() override {
    const Error error = prove_memory_events();
    if (error.failed()) GTEST_SKIP() << error.text();
    watch_->add(recorder_);
  }

  void watch(const AddressRange& range) {
    const Error error = watch_->watch(range);
    ASSERT_TRUE(error.ok()) << error.text();
  }
  AddressRange told(const AddressRange& of) {
    EXPECT_EQ(watch_->settle(), MemoryWatch::Settled::yes);
    return recorder_.told(of);
  }
  [[nodiscard]] std::string refusal_of(const AddressRange& range) {
    const Error error = watch_->watch(range);
    return error.failed() ? error.text() : "";
  }

  Recorder recorder_;
  std::unique_ptr<MemoryWatch> watch_ = std::make_unique<MemoryWatch>();
};

TEST_F(MemoryWatchTest, nothing_is_told_while_nothing_changes) {
  const Pages pages(4);
  watch(pages.range());
  std::memset(pages.at(0), 2, 4 * page);
  ::mprotect(pages.at(1), page, PROT_READ);
  ::mprotect(pages.at(1), page, PROT_READ | PROT_WRITE);
  EXPECT_TRUE(told(pages.range()).empty());
}

TEST_F(MemoryWatchTest, munmap_is_told) {
  const Pages pages(4);
  watch(pages.range());
  ::munmap(pages.at(1), page);
  EXPECT_EQ(told(pages.range()), pages.range(1, 1));
}

TEST_F(MemoryWatchTest, there_is_news_until_it_is_told) {
  const Pages pages(1);
  watch(pages.range());
  EXPECT_FALSE(watch_->has_events());
  ::madvise(pages.at(0), page, MADV_DONTNEED);
  while (!watch_->has_events()) std::this_thread::yield();
  EXPECT_EQ(told(pages.range()), pages.range());
  EXPECT_FALSE(watch_->has_events());
}

TEST_F(MemoryWatchTest, unmapping_more_than_is_watched_is_told) {
  const Pages pages(4);
  watch(pages.range(2, 1));
  ::munmap(pages.at(0), 4 * page);
  EXPECT_EQ(told(pages.range(2, 1)), pages.range(2, 1));
}

TEST_F(MemoryWatchTest, mapping_over_it_is_told) {
  const Pages pages(4);
  watch(pages.range());
  ASSERT_NE(::mmap(pages.at(2), page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  EXPECT_EQ(told(pages.range()), pages.range(2, 1));
}

TEST_F(MemoryWatchTest, emptying_is_told) {
  const Pages pages(4);
  watch(pages.range());
  ASSERT_EQ(::madvise(pages.at(3), page, MADV_DONTNEED), 0);
  EXPECT_EQ(told(pages.range()), pages.range(3, 1));
  recorder_.clear();
  ASSERT_EQ(::madvise(pages.at(0), 2 * page, MADV_FREE), 0);
  EXPECT_EQ(told(pages.range()), pages.range(0, 2));
}

TEST_F(MemoryWatchTest, moving_shrinking_and_moving_onto_it_are_told) {
  const Pages pages(8);
  const Pages other(8);
  watch(pages.range());
  watch(other.range(4, 4));
  ASSERT_NE(::mremap(pages.at(0), page, page, MREMAP_MAYMOVE | MREMAP_FIXED, other.at(0)),
            MAP_FAILED);
  EXPECT_EQ(told(pages.range()), pages.range(0, 1));
  EXPECT_TRUE(recorder_.told(other.range(4, 4)).empty());
  recorder_.clear();
  ASSERT_NE(::mremap(pages.at(4), 4 * page, page, 0), MAP_FAILED);
  EXPECT_EQ(told(pages.range()), pages.range(5, 3));
  ASSERT_NE(::mremap(pages.at(1), page, page, MREMAP_MAYMOVE | MREMAP_FIXED, other.at(5)),
            MAP_FAILED);
  EXPECT_EQ(told(other.range(4, 4)), other.range(5, 1));
}

TEST_F(MemoryWatchTest, shrinking_the_heap_is_told) {
  std::free(std::malloc(64 * page));  // so that the C library has what it needs
  void* const before = ::sbrk(0);
  const auto pad = whole_pages({reinterpret_cast<std::uintptr_t>(before), 0}).begin + page -
                   reinterpret_cast<std::uintptr_t>(before);
  if (::sbrk(static_cast<std::intptr_t>(pad + 4 * page)) != before) {
    GTEST_SKIP() << "no heap by brk here";
  }
  auto* const heap = static_cast<std::byte*>(before) + pad;
  std::memset(heap, 1, 4 * page);
  watch(range_of({heap, 4 * page}));
  if (::sbrk(0) != heap + 4 * page) GTEST_SKIP() << "somebody else has moved the end of the heap";
  ::sbrk(-static_cast<std::intptr_t>(2 * page));
  EXPECT_EQ(told(range_of({heap, 4 * page})), range_of({heap + 2 * page, 2 * page}));
}

TEST_F(MemoryWatchTest, what_was_given_back_is_told_no_more_unless_another_range_has_it) {
  const Pages pages(4);
  watch(pages.range());
  watch(pages.range(2, 2));
  watch_->unwatch(pages.range());
  ::madvise(pages.at(0), 2 * page, MADV_DONTNEED);
  EXPECT_TRUE(told(pages.range()).empty());
  ::madvise(pages.at(3), page, MADV_DONTNEED);
  EXPECT_EQ(told(pages.range()), pages.range(3, 1));
}

TEST_F(MemoryWatchTest, memory_mapped_anew_at_the_same_place_is_watched_anew) {
  const Pages pages(2);
  for (int i = 0; i < 20; ++i) {
    watch(pages.range());
    ASSERT_NE(::mmap(pages.at(0), 2 * page, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    EXPECT_EQ(told(pages.range()), pages.range());
    recorder_.clear();
  }
  for (int i = 0; i < 20; ++i) watch_->unwatch(pages.range());
}

TEST_F(MemoryWatchTest, more_changes_than_the_queue_takes_are_a_change_of_everything) {
  const Pages pages(2);
  watch(pages.range());
  for (int i = 0; i < 1000; ++i) ::madvise(pages.at(0), page, MADV_DONTNEED);
  EXPECT_EQ(told(pages.range(1, 1)), pages.range(1, 1));
}

TEST_F(MemoryWatchTest, changes_of_many_threads_are_all_told) {
  constexpr std::size_t threads = 6;
  const Pages pages(threads * 8);
  watch(pages.range());
  std::vector<std::thread> running;
  for (std::size_t i = 0; i < threads; ++i) {
    running.emplace_back([&, i] {
      for (std::size_t j = 0; j < 8; ++j) ::munmap(pages.at(i * 8 + j), page);
    });
  }
  for (std::thread& thread : running) thread.join();
  EXPECT_EQ(watch_->settle(), MemoryWatch::Settled::yes);
  for (std::size_t i = 0; i < threads * 8; ++i) {
    EXPECT_EQ(recorder_.told(pages.range(i, 1)), pages.range(i, 1));
  }
}

TEST_F(MemoryWatchTest, what_cannot_be_watched_is_refused_with_the_reason) {
  const Pages pages(4);
  ::mmap(pages.at(0), page, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  EXPECT_NE(refusal_of(pages.range()).find("shared memory"), std::string::npos);
  const UniqueFd program(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  ::mmap(pages.at(0), page, PROT_READ, MAP_PRIVATE | MAP_FIXED, program.get(), 0);
  EXPECT_NE(refusal_of(pages.range()).find("a mapped file"), std::string::npos);
  ::munmap(pages.at(0), page);
  EXPECT_NE(refusal_of(pages.range()).find("not mapped"), std::string::npos);
  const auto frame = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  const AddressRange stack = whole_pages({frame, frame + 1});
  EXPECT_NE(refusal_of(stack).find("stack"), std::string::npos);
  const auto somebody = MemoryEvents::open();
  ASSERT_TRUE(somebody.value().watch(pages.range(1, 1)).ok());
  EXPECT_NE(refusal_of(pages.range(1, 3)).find("somebody else"), std::string::npos);
  EXPECT_EQ(refusal_of(pages.range(2, 2)), "");
}

std::vector<std::string> names_of_threads() {
  std::vector<std::string> names;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    std::getline(file, name);
    names.push_back(name);
  }
  return names;
}

bool has_reader() {
  const auto names = names_of_threads();
  return std::find(names.begin(), names.end(), "fulmar-watch") != names.end();
}
/// A thread that has been joined is listed a moment longer.
bool reader_has_gone() {
  for (int look = 0; look < 100000 && has_reader(); ++look) std::this_thread::yield();
  return !has_reader();
}

TEST_F(MemoryWatchTest, the_reader_runs_from_the_first_range_to_the_end) {
  EXPECT_EQ(watch_->settle(), MemoryWatch::Settled::yes);
  EXPECT_TRUE(reader_has_gone());
  const Pages pages(1);
  watch(pages.range());
  EXPECT_TRUE(has_reader());
  EXPECT_TRUE(watch_->is_running());
  watch_.reset();
  EXPECT_TRUE(reader_has_gone());
}

TEST_F(MemoryWatchTest, the_reader_takes_no_signals) {
  const Pages pages(1);
  watch(pages.range());
  bool found = false;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "status");
    std::string word;
    file >> word >> word;
    if (word != "fulmar-watch") continue;
    found = true;
    while (file >> word && word != "SigBlk:") continue;
    file >> word;
    const auto blocked = std::stoull(word, nullptr, 16);
    for (const int signal : {SIGUSR1, SIGALRM, SIGTERM, SIGCHLD, SIGINT}) {
      EXPECT_NE(blocked >> (signal - 1) & 1, 0U) << signal;
    }
  }
  EXPECT_TRUE(found);
}

/// Runs in a child of fork; its exit code.
int in_child(const std::function<int()>& what) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(what());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(MemoryWatchTest, a_child_of_fork_is_neither_held_up_nor_told_of) {
  const Pages pages(2);
  watch(pages.range());
  EXPECT_EQ(in_child([&] {
              ::munmap(pages.at(0), 2 * page);
              const bool refused = watch_->watch(pages.range()).failed();
              watch_->unwatch(pages.range());
              watch_.reset();
              return refused ? 0 : 1;
            }),
            0);
  EXPECT_TRUE(told(pages.range()).empty());
  ::munmap(pages.at(0), page);
  EXPECT_EQ(told(pages.range()), pages.range(0, 1));
}

/// The child has a copy of the descriptor, so closing ours ends nothing. Where something were left
/// watched, the last calls would never return.
TEST_F(MemoryWatchTest, memory_is_free_afterwards_although_a_child_lives_on) {
  const Pages pages(4);
  const Pages other(4);
  watch(pages.range());
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    ::close(ends[1]);
    ::_exit(::read(ends[0], &byte, 1) == 0 ? 0 : 1);
  }
  ASSERT_NE(::mremap(pages.at(0), page, page, MREMAP_MAYMOVE | MREMAP_FIXED, other.at(0)),
            MAP_FAILED);
  watch_.reset();
  ::munmap(other.at(0), 4 * page);
  ::munmap(pages.at(0), 4 * page);
  ::close(ends[0]);
  ::close(ends[1]);
  int status = -1;
  ::waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(MemoryWatchTest, memory_that_moved_is_not_watched_where_it_went) {
  const Pages pages(1);
  const Pages other(1);
  watch(pages.range());
  ASSERT_NE(::mremap(pages.at(0), page, page, MREMAP_MAYMOVE | MREMAP_FIXED, other.at(0)),
            MAP_FAILED);
  EXPECT_EQ(told(pages.range()), pages.range());
  ::madvise(other.at(0), page, MADV_DONTNEED);
  EXPECT_TRUE(told(other.range()).empty());
  watch(other.range());
  ::madvise(other.at(0), page, MADV_DONTNEED);
  EXPECT_EQ(told(other.range()), other.range());
}

/// As a program does that becomes a daemon.
TEST_F(MemoryWatchTest, nothing_is_believed_when_the_program_has_closed_the_descriptor) {
  const Pages pages(2);
  watch(pages.range());
  std::vector<int> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code none;
    if (std::filesystem::read_symlink(entry, none) == "anon_inode:[userfaultfd]") {
      found.push_back(std::stoi(entry.path().filename()));
    }
  }
  ASSERT_EQ(found.size(), 1U);
  ::close(found[0]);
  EXPECT_EQ(watch_->settle(), MemoryWatch::Settled::no);
  ::munmap(pages.at(0), page);
  EXPECT_EQ(watch_->settle(), MemoryWatch::Settled::no);
}

/// One thread unmaps; its event stays unread.
TEST_F(MemoryWatchTest, a_change_under_way_is_seen_before_its_event_is_read) {
  const Pages pages(2);
  const auto events = MemoryEvents::open();
  ASSERT_TRUE(events.value().watch(pages.range()).ok());
  EXPECT_FALSE(events.value().changing());
  std::atomic<bool> is_over{false};
  std::thread thread([&] {
    ::munmap(pages.at(0), page);
    is_over = true;
  });
  while (!events.value().changing()) std::this_thread::yield();
  EXPECT_FALSE(is_over);
  std::array<MemoryEvent, 4> event;
  std::size_t count = 0;
  while (count == 0) count = events.value().read(event);
  thread.join();
  EXPECT_EQ(count, 1U);
  EXPECT_EQ(event[0].kind, MemoryEvent::Kind::unmapped);
  EXPECT_EQ(event[0].range, pages.range(0, 1));
  EXPECT_FALSE(events.value().changing());
}

/// The munmap of a thread has happened, and nobody has read its event: `settle` must not say that
/// nothing has changed.
TEST_F(MemoryWatchTest, a_change_whose_event_was_not_read_is_told) {
  const Pages pages(64);
  MemoryWatch watch(MemoryWatch::Reader::nobody);
  Recorder recorder;
  watch.add(recorder);
  ASSERT_TRUE(watch.watch(pages.range()).ok());
  for (std::size_t i = 0; i < 64; ++i) {
    std::thread thread([&] { ::munmap(pages.at(i), page); });
    unsigned char resident = 0;
    while (::mincore(pages.at(i), page, &resident) == 0) std::this_thread::yield();
    const auto settled = watch.settle();
    EXPECT_TRUE(settled == MemoryWatch::Settled::no ||
                recorder.told(pages.range(i, 1)) == pages.range(i, 1));
    while (watch.settle() == MemoryWatch::Settled::no) std::this_thread::yield();
    EXPECT_EQ(recorder.told(pages.range(i, 1)), pages.range(i, 1));
    thread.join();
  }
}

/// From now on userfaultfd is denied to this process.
bool deny_userfaultfd() {
  std::array<sock_filter, 4> program = {{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog filter = {static_cast<unsigned short>(program.size()), program.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

TEST(MemoryWatchDenied, nothing_is_watched_and_the_reason_is_told) {
  constexpr int no_seccomp = 77;
  const int code = in_child([] {
    if (!deny_userfaultfd()) return no_seccomp;
    const Pages pages(1);
    MemoryWatch watch;
    if (watch.watch(pages.range()).ok()) return 1;
    if (watch.refusal().find("denied") == std::string::npos) return 2;
    if (watch.watch(pages.range()).ok() || watch.is_running()) return 3;
    return watch.settle() == MemoryWatch::Settled::yes ? 0 : 4;
  });
  if (code == no_seccomp) GTEST_SKIP() << "no seccomp here";
  EXPECT_EQ(code, 0);
}

}  // namespace
}  // namespace fulmar::base
