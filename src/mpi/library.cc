// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/library.h"

namespace fulmar::mpi {
namespace {

constexpr std::size_t many = std::size_t{1} << 22;
constexpr std::size_t some = std::size_t{1} << 20;
constexpr std::uint32_t long_quarantine = 64;
/// Requests and messages come and go with every call: a short one keeps them in the cache.
constexpr std::uint32_t short_quarantine = 16;

}  // namespace

Library::Library() noexcept
    : arenas_{{{slot_bytes[0], some, long_quarantine},
               {slot_bytes[1], some, long_quarantine},
               {slot_bytes[2], some, long_quarantine},
               {slot_bytes[3], some, long_quarantine},
               {slot_bytes[4], some, long_quarantine},
               {slot_bytes[5], some, long_quarantine},
               {slot_bytes[6], many, short_quarantine},
               {slot_bytes[7], some, long_quarantine},
               {slot_bytes[8], some, long_quarantine},
               {slot_bytes[9], many, short_quarantine},
               {slot_bytes[10], some, long_quarantine}}} {}

Library::~Library() = default;

void Library::define(Object& object, std::uintptr_t handle) noexcept {
  object.handle = handle;
  object.predefined = true;
  predefined_[handle] = &object;
}

Object* Library::find_hidden_object(std::uintptr_t handle) const noexcept {
  for (Object* const object : hidden_) {
    if (object->handle == handle) return object;
  }
  return nullptr;
}

std::size_t Library::object_bytes() const noexcept {
  std::size_t bytes = 0;
  for (const SlotArena& arena : arenas_) bytes += arena.used_bytes();
  return bytes;
}

}  // namespace fulmar::mpi
