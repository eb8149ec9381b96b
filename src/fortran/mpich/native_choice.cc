// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "fortran/choice.h"
#include "fortran/mpich/native_descriptor.h"

namespace fulmar::fortran {
namespace {

/// A descriptor for the time that a constructor needs it.
struct Converted {
  Descriptor descriptor;
  [[nodiscard]] const Descriptor* get() const { return &descriptor; }
};

}  // namespace

Choice::Choice(const NativeDescriptor* descriptor, Access access, ErrorTarget target)
    : Choice(Converted{standard_descriptor(*descriptor)}.get(), access, target) {}

}  // namespace fulmar::fortran
