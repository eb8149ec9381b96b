// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/attr/keyvals.h"

#include <limits>

namespace fulmar::mpi {
namespace {

using base::ErrorClass;
using base::Result;

const char* kind_name(KeyvalKind kind) {
  switch (kind) {
    case KeyvalKind::comm:
      return "communicators";
    case KeyvalKind::type:
      return "datatypes";
    case KeyvalKind::win:
      break;
  }
  return "windows";
}

}  // namespace

Result<Keyval*> Keyvals::create(KeyvalKind kind, CopyFunction copy, DeleteFunction remove,
                                void* extra_state) {
  if (next_number_ == std::numeric_limits<int>::max()) {
    return base::failure(ErrorClass::no_mem, "all numbers for attribute keys are used up");
  }
  const int number = next_number_++;
  Keyval& made = keyvals_[number];
  made = {number, kind, copy, remove, extra_state};
  return &made;
}

void Keyvals::free(Keyval& keyval) noexcept {
  if (keyval.freed) return;
  keyval.freed = true;
  release(keyval);
}

void Keyvals::release(Keyval& keyval) noexcept {
  if (--keyval.references == 0) keyvals_.erase(keyval.number);
}

Result<Keyval*> Keyvals::find(KeyvalKind kind, int number, Freed freed) {
  if (is_predefined(kind, number)) {
    return base::failure(ErrorClass::keyval,
                         "argument keyval: %d is a predefined attribute, which cannot be changed",
                         number);
  }
  const auto found = keyvals_.find(number);
  if (found == keyvals_.end() || (found->second.freed && freed == Freed::refused)) {
    return base::failure(ErrorClass::keyval, "argument keyval: %d is not a key%s", number,
                         number == MPI_KEYVAL_INVALID ? " (MPI_KEYVAL_INVALID)" : " or was freed");
  }
  if (found->second.kind != kind) {
    return base::failure(ErrorClass::keyval, "argument keyval: %d is a key for %s, not for %s",
                         number, kind_name(found->second.kind), kind_name(kind));
  }
  return &found->second;
}

void Keyvals::define_predefined(int number, int value) noexcept {
  const std::size_t index = index_of(number);
  values_[index] = value;
  shown_[index] = &values_[index];
}

void Keyvals::follow_predefined(int number, const int& variable) noexcept {
  shown_[index_of(number)] = &variable;
}

void Keyvals::undefine_predefined(int number) noexcept { shown_[index_of(number)] = nullptr; }

const int* Keyvals::predefined(int number) const noexcept { return shown_[index_of(number)]; }

bool Keyvals::is_predefined(KeyvalKind kind, int number) noexcept {
  switch (kind) {
    case KeyvalKind::comm:
      return (number >= MPI_TAG_UB && number <= MPI_UNIVERSE_SIZE) || number == fault_tolerance;
    case KeyvalKind::win:
      return number >= MPI_WIN_BASE && number <= MPI_WIN_MODEL;
    case KeyvalKind::type:
      break;
  }
  return false;
}

}  // namespace fulmar::mpi
