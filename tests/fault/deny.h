// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <string>

/// From now on the kernel answers this system call of this process, of the threads that it makes
/// and of what it executes, with this error. False where it does not let us. Names: process_vm
/// (both directions), process_vm_readv, process_vm_writev, membarrier, prctl, thread (no new one,
/// nor a process); errors: EPERM,
/// ENOSYS, EACCES, EAGAIN.
bool deny(const std::string& call, const std::string& error);
