// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <map>

#include "base/error.h"
#include "mpi/library.h"

namespace fulmar::mpi {

/// The objects that carry attributes (MPI 5.0 section 7.7).
enum class KeyvalKind : std::uint8_t { comm, type, win };

/// The user's functions of a key. The value 0 stands for "do not copy" and "nothing to delete", the
/// value 1 of a copy function for "copy the pointer" (MPI_COMM_DUP_FN and the like in the standard
/// ABI).
union CopyFunction {
  std::uintptr_t number;
  MPI_Comm_copy_attr_function* comm;
  MPI_Type_copy_attr_function* type;
  MPI_Win_copy_attr_function* win;
};
union DeleteFunction {
  std::uintptr_t number;
  MPI_Comm_delete_attr_function* comm;
  MPI_Type_delete_attr_function* type;
  MPI_Win_delete_attr_function* win;
};

/// A key made by the user. `references` counts the user's own and each attribute set with it, so
/// that a key can be freed while attributes with it exist.
struct Keyval {
  int number;
  KeyvalKind kind;
  CopyFunction copy;
  DeleteFunction remove;
  void* extra_state;
  std::uint32_t references = 1;
  bool freed = false;
};

/// All keys of the process, and the values of the predefined attributes of communicators. Made by
/// `runtime`, known as `library.keyvals`. Guarded by the lock of the library.
class Keyvals {
 public:
  explicit Keyvals(Library& library) noexcept : library_(library) { library.keyvals = this; }
  ~Keyvals() { library_.keyvals = nullptr; }
  Keyvals(const Keyvals&) = delete;
  Keyvals& operator=(const Keyvals&) = delete;

  /// MPI_ERR_NO_MEM when all numbers are used up.
  base::Result<Keyval*> create(KeyvalKind kind, CopyFunction copy, DeleteFunction remove,
                               void* extra_state);
  /// The user gives the key back. Nothing happens where that was done before.
  void free(Keyval& keyval) noexcept;
  /// A key that was freed lives on while attributes with it exist (MPI 5.0 section 7.7.2).
  enum class Freed : std::uint8_t { refused, found };
  /// Fails with MPI_ERR_KEYVAL for keys that are freed, predefined, never made, or of another kind.
  base::Result<Keyval*> find(KeyvalKind kind, int number, Freed freed = Freed::refused);

  static void acquire(Keyval& keyval) noexcept { ++keyval.references; }
  void release(Keyval& keyval) noexcept;

  /// MPIX_FT of mpi-ext.h: between the keys of the standard and those of programs.
  static constexpr int fault_tolerance = 901;
  /// Sets the value of MPI_TAG_UB, MPI_WTIME_IS_GLOBAL and so on; users get a pointer to it.
  void define_predefined(int number, int value) noexcept;
  /// Lets a predefined attribute follow a variable (MPI_LASTUSEDCODE), which must outlive it.
  void follow_predefined(int number, const int& variable) noexcept;
  /// Users do not find it any more.
  void undefine_predefined(int number) noexcept;
  /// What users get for a predefined key of communicators; nullptr where it has no value here.
  [[nodiscard]] const int* predefined(int number) const noexcept;

  static bool is_predefined(KeyvalKind kind, int number) noexcept;

 private:
  static constexpr int first_predefined = MPI_TAG_UB;
  /// Those of the standard, and `fault_tolerance`.
  static constexpr std::size_t predefined_count = MPI_UNIVERSE_SIZE - MPI_TAG_UB + 2;

  [[nodiscard]] static std::size_t index_of(int number) noexcept {
    return number == fault_tolerance ? predefined_count - 1
                                     : static_cast<std::size_t>(number - first_predefined);
  }
  static constexpr int first_number = 1024;

  Library& library_;
  std::map<int, Keyval> keyvals_;
  int next_number_ = first_number;
  std::array<int, predefined_count> values_{};
  std::array<const int*, predefined_count> shown_{};
};

}  // namespace fulmar::mpi
