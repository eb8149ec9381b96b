// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <compat_functions.h>

#include <array>
#include <cstddef>
#include <cstdint>

// What the generated <foreign_values.h> is made of.

namespace fulmar::compat {

/// The functions of libmpi_abi.so.1, found when this library was loaded (library.cc). They are called by
/// address: a call by name would end in this library, which has the same names.
extern Functions functions;

/// A number of the other ABI and the number of the standard ABI that means the same.
struct Pair {
  int foreign;
  int standard;
};

/// A predefined handle: its number in an ABI whose handles are numbers, and the constant of the standard ABI.
struct HandlePair {
  std::uint32_t foreign;
  std::uint32_t standard;
};

/// A predefined handle that is the address of an object: the object, the constant of the standard ABI, the
/// type of handle (compat_reader.HANDLES), and the number that Fortran knows it by (-1: none).
struct PredefinedObject {
  const void* address;
  std::uint32_t standard;
  std::uint32_t kind;
  int fortran;
};

/// A function of the program whose arguments are not known yet.
using Procedure = void();

}  // namespace fulmar::compat
