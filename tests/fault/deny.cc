// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fault/deny.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstddef>
#include <vector>

namespace {

std::vector<unsigned> numbers_of(const std::string& call) {
  if (call == "process_vm") return {SYS_process_vm_readv, SYS_process_vm_writev};
  if (call == "process_vm_readv") return {SYS_process_vm_readv};
  if (call == "process_vm_writev") return {SYS_process_vm_writev};
  if (call == "membarrier") return {SYS_membarrier};
  if (call == "prctl") return {SYS_prctl};
  if (call == "thread") return {SYS_clone, SYS_clone3};
  return {};
}

unsigned errno_of(const std::string& error) {
  if (error == "ENOSYS") return ENOSYS;
  if (error == "EAGAIN") return EAGAIN;
  return error == "EACCES" ? EACCES : EPERM;
}

}  // namespace

bool deny(const std::string& call, const std::string& error) {
  const std::vector<unsigned> numbers = numbers_of(call);
  if (numbers.empty()) return false;
  std::vector<sock_filter> program;
  program.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const unsigned number : numbers) {
    program.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1));
    program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | errno_of(error)));
  }
  program.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  const sock_fprog filter{static_cast<unsigned short>(program.size()), program.data()};
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return false;
  return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}
