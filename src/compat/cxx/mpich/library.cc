// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors

// libmpicxx.so.12. The wrappers of MPICH and Intel MPI link it to every C++ program; most call C functions alone and take
// nothing from it. It brings libmpi.so.12. The classes of namespace MPI are not there (docs/other-abis.md).

namespace fulmar::compat::cxx {
namespace {

// A translation unit must not be empty.
[[maybe_unused]] constexpr int interface_version = 12;

}  // namespace
}  // namespace fulmar::compat::cxx
