// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "compat/handles.h"
#include "compat/library.h"

// Predefined objects by address and back. A program may hold a copy of an object under the address that
// everybody uses then (copy relocations), so addresses are taken when the library was loaded.

namespace fulmar::compat {
namespace {

constexpr std::size_t places = 1024;  // some 110 are taken

struct Place {
  const void* address = nullptr;
  std::uintptr_t constant = 0;
};
Place by_address[places];
void* by_constant[handle_constants];

/// Objects are some hundred bytes apart.
std::size_t hash(const void* address) {
  const auto value = reinterpret_cast<std::uintptr_t>(address);
  return (value * 0x9e3779b97f4a7c15U) >> 54;
}

}  // namespace

void prepare_objects() {
  for (const PredefinedObject& object : foreign::predefined_objects) {
    std::size_t place = hash(object.address);
    while (by_address[place].address != nullptr) place = (place + 1) % places;
    by_address[place] = {object.address, object.standard};
    if (object.standard < handle_constants)
      by_constant[object.standard] = const_cast<void*>(object.address);
  }
}

std::uintptr_t constant_of_object(const void* address) {
  for (std::size_t place = hash(address); by_address[place].address != nullptr;
       place = (place + 1) % places) {
    if (by_address[place].address == address) return by_address[place].constant;
  }
  return 0;
}

void* object_of_constant(std::uintptr_t constant) { return by_constant[constant]; }

}  // namespace fulmar::compat
