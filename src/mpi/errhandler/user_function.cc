// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/errhandler/user_function.h"

namespace fulmar::mpi {
namespace {

/// Of this thread. Without a constructor or destructor, so that threads pay nothing for it.
thread_local constinit int depth = 0;

}  // namespace

UserFunctionScope::UserFunctionScope() noexcept { ++depth; }
UserFunctionScope::~UserFunctionScope() { --depth; }

bool in_user_function() noexcept { return depth != 0; }

}  // namespace fulmar::mpi
