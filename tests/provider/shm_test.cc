// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fabric/shm/shm.h"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstddef>
#include <vector>

#include "provider/shm_pair.h"

namespace fulmar::fabric {
namespace {

/// Runs `body` in a child process that is rank 1 and reports what it returns.
template <class Body>
class Child {
 public:
  Child(ShmPair& pair, Body body) {
    if (::pipe(ready_) != 0 || ::pipe(stop_) != 0) std::abort();
    pid_ = ::fork();
    if (pid_ != 0) {
      ::close(ready_[1]);
      ::close(stop_[0]);
      char byte = 0;
      up_ = ::read(ready_[0], &byte, 1) == 1;
      return;
    }
    ::close(stop_[1]);
    pair.words->pid[1] = static_cast<std::int32_t>(::getpid());
    Shm rank(pair.config(1));
    const int result = body(rank);
    if (::write(ready_[1], "r", 1) != 1) ::_exit(99);
    char byte = 0;
    [[maybe_unused]] const auto end = ::read(stop_[0], &byte, 1);  // until the parent is done
    ::_exit(result);
  }
  /// Ends the child; what `body` returned.
  int finish() {
    if (pid_ <= 0) return -1;
    ::close(stop_[1]);
    ::close(ready_[0]);
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }
  ~Child() { finish(); }
  [[nodiscard]] bool up() const { return up_; }

 private:
  pid_t pid_ = 0;
  bool up_ = false;
  int ready_[2] = {};
  int stop_[2] = {};
};

std::uint64_t address_of(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }

/// From now on this process may not read other processes' memory.
bool deny_reads() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{4, filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Shm, Memory_of_another_process_is_read_and_written) {
  ShmPair pair;
  Shm self(pair.config(0));
  static std::vector<char> data(300000, 'p');
  Child child(pair, [&](Shm&) {
    data.assign(data.size(), 'c');
    pair.words->address = address_of(data.data());
    return 0;
  });
  ASSERT_TRUE(child.up());
  if (!self.reach(1)) GTEST_SKIP() << "this system denies process_vm_readv between processes";
  std::vector<char> here(data.size());
  const iovec piece{here.data(), here.size()};
  const std::uint64_t there = pair.words->address.load();
  ASSERT_TRUE(self.read(1, {&piece, 1}, there, here.size()).ok());
  EXPECT_EQ(here, std::vector<char>(here.size(), 'c'));
  here.assign(here.size(), 'w');
  ASSERT_TRUE(self.write(1, {&piece, 1}, there, here.size()).ok());
  std::vector<char> again(data.size());
  const iovec other{again.data(), again.size()};
  ASSERT_TRUE(self.read(1, {&other, 1}, there, again.size()).ok());
  EXPECT_EQ(again, here);
  EXPECT_EQ(data[0], 'p');  // the copy of this process is not the one that was written
}

TEST(Shm, Peer_that_has_not_started_is_probed_again) {
  ShmPair pair;
  Shm self(pair.config(0));
  EXPECT_FALSE(self.reach(1));  // no token yet
  const Shm peer(pair.config(1));
  EXPECT_TRUE(self.reach(1));
}

TEST(Shm, Process_without_the_token_is_not_reached) {
  ShmPair pair;
  Shm self(pair.config(0));
  const Shm peer(pair.config(1));
  pair.control(1).probe_token = 1;
  EXPECT_FALSE(self.reach(1));
  pair.control(1).probe_token = 0x1234567890abcdef + 1;
  EXPECT_FALSE(self.reach(1));  // decided
}

TEST(Shm, Single_copy_can_be_switched_off) {
  ShmPair pair;
  Shm::Config config = pair.config(0);
  config.single_copy = false;
  Shm self(config);
  const Shm peer(pair.config(1));
  EXPECT_FALSE(self.reach(1));
}

TEST(Shm, Denied_copy_fails_and_is_not_tried_again) {
  ShmPair pair;
  Shm self(pair.config(0));
  Child child(pair, [&](Shm& rank) {
    pair.words->pid[0] = static_cast<std::int32_t>(::getppid());
    char here = 0;
    const iovec piece{&here, 1};
    if (!rank.reach(0)) return 77;
    if (!deny_reads()) return 77;
    if (rank.read(0, {&piece, 1}, address_of(&here), 1).ok()) return 1;
    return rank.reach(0) ? 2 : 0;
  });
  const int result = child.finish();
  if (result == 77) GTEST_SKIP() << "this system denies process_vm_readv or seccomp filters";
  EXPECT_EQ(result, 0);
}

TEST(Shm, Denied_probe_means_no_reach) {
  ShmPair pair;
  Shm self(pair.config(0));
  Child child(pair, [&](Shm& rank) {
    if (!deny_reads()) return 77;
    return rank.reach(0) ? 1 : 0;
  });
  const int result = child.finish();
  if (result == 77) GTEST_SKIP() << "this system denies seccomp filters";
  EXPECT_EQ(result, 0);
}

TEST(Shm, Bad_address_fails_but_leaves_the_peer_in_reach) {
  ShmPair pair;
  Shm self(pair.config(0));
  const Shm peer(pair.config(1));
  ASSERT_TRUE(self.reach(1));
  char here = 0;
  const iovec piece{&here, 1};
  EXPECT_TRUE(self.read(1, {&piece, 1}, 8, 1).failed());
  EXPECT_TRUE(self.reach(1));
}

TEST(Shm, Dead_peer_is_seen) {
  ShmPair pair;
  Shm self(pair.config(0));
  EXPECT_TRUE(self.alive(1));
  pair.words->gone[1] = 1;
  EXPECT_FALSE(self.alive(1));
}

/// 2^31 + 1 bytes out of pages that nobody ever wrote (they cost nothing), into one buffer that is
/// named again and again, so that the test needs little memory.
TEST(Shm, Copy_of_more_than_two_gigabytes_is_whole) {
  constexpr std::uint64_t bytes = (std::uint64_t{1} << 31) + 1;
  constexpr std::size_t piece_bytes = 1U << 20;
  ShmPair pair;
  Shm self(pair.config(0));
  const Shm peer(pair.config(1));
  ASSERT_TRUE(self.reach(1));
  void* source = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (source == MAP_FAILED) GTEST_SKIP() << "no address space for 2 GiB";
  static_cast<char*>(source)[bytes - 1] = 'e';
  std::vector<char> buffer(piece_bytes, 'x');
  char last = 0;
  std::vector<iovec> pieces(bytes / piece_bytes, {buffer.data(), piece_bytes});
  pieces.push_back({&last, 1});
  EXPECT_TRUE(self.read(1, pieces, address_of(source), bytes).ok());
  EXPECT_EQ(last, 'e');
  EXPECT_EQ(buffer, std::vector<char>(piece_bytes, 0));
  ::munmap(source, bytes);
}

}  // namespace
}  // namespace fulmar::fabric
