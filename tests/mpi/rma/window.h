// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include "support/check.h"

// Windows of every kind for tests that do the same on each.
namespace test {

enum class Kind { create, allocate, shared, dynamic };
inline constexpr std::array all_kinds = {Kind::create, Kind::allocate, Kind::shared, Kind::dynamic};

inline const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::create:
      return "create";
    case Kind::allocate:
      return "allocate";
    case Kind::shared:
      return "shared";
    case Kind::dynamic:
      return "dynamic";
  }
  return "";
}

/// A window of `bytes` zeros on each rank of MPI_COMM_WORLD, displacements counted in bytes. Errors
/// of calls on it are returned.
class Window {
 public:
  Window(Kind kind, std::size_t bytes) : kind_(kind) {
    const auto size = static_cast<MPI_Aint>(bytes);
    int made = MPI_SUCCESS;
    void* memory = nullptr;
    switch (kind) {
      case Kind::create:
        own_.resize(bytes + 1);
        memory = own_.data();
        made = MPI_Win_create(memory, size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
        break;
      case Kind::allocate:
        made = MPI_Win_allocate(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win_);
        break;
      case Kind::shared:
        made = MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win_);
        break;
      case Kind::dynamic:
        own_.resize(bytes + 1);
        memory = own_.data();
        made = MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win_);
        MPI_Win_attach(win_, memory, size);
        break;
    }
    expect_equal(made, MPI_SUCCESS, name_of(kind));
    MPI_Win_set_errhandler(win_, MPI_ERRORS_RETURN);
    memory_ = static_cast<std::byte*>(memory);
    bases_.resize(static_cast<std::size_t>(size_of(MPI_COMM_WORLD)));
    MPI_Aint base = 0;
    if (kind == Kind::dynamic) MPI_Get_address(memory, &base);
    MPI_Allgather(&base, 1, MPI_AINT, bases_.data(), 1, MPI_AINT, MPI_COMM_WORLD);
  }
  ~Window() {
    if (kind_ == Kind::dynamic) {
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Win_detach(win_, memory_);
    }
    expect_equal(MPI_Win_free(&win_), MPI_SUCCESS, "free");
    expect(win_ == MPI_WIN_NULL, "handle after free");
  }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  [[nodiscard]] MPI_Win get() const { return win_; }
  /// The displacement of a byte of a rank's memory.
  [[nodiscard]] MPI_Aint at(int rank, std::size_t byte) const {
    return bases_[static_cast<std::size_t>(rank)] + static_cast<MPI_Aint>(byte);
  }
  template <class T>
  [[nodiscard]] T* memory() const {
    return reinterpret_cast<T*>(memory_);
  }

 private:
  Kind kind_;
  MPI_Win win_ = MPI_WIN_NULL;
  std::vector<std::byte> own_;
  std::byte* memory_ = nullptr;
  std::vector<MPI_Aint> bases_;
};

}  // namespace test
