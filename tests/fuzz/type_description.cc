// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/rma/server/type_description.h"

#include "fuzz/one_process.h"
#include "fuzz/targets.h"
#include "mpi/datatype/view.h"
#include "mpi/rma/range.h"

namespace fulmar::fuzz {
namespace {

/// A layout with small numbers, right in most of its words.
void add_layout(Input& input, std::vector<std::int64_t>& words, int depth) {
  const std::uint8_t kind = input.byte();
  const std::int64_t shape = depth > 4 ? 0 : kind % 5;
  const std::int64_t entries = shape >= 3 ? 1 + kind / 5 % 4 : 0;
  words.push_back(shape | entries << 8);
  words.push_back(input.number(64));
  if (shape == 0) words.push_back(input.number(16));
  if (shape == 1 || shape == 2) {
    words.push_back(input.number(8));
    words.push_back(input.number(64) - 16);
  }
  if (shape == 1) words.push_back(input.number(16));
  if (shape == 2) add_layout(input, words, depth + 1);
  for (std::int64_t i = 0; i < entries; ++i) {
    words.push_back(input.number(64));
    if (shape == 3) words.push_back(input.number(16));
    if (shape == 4) add_layout(input, words, depth + 1);
  }
}

/// What a type touches stays within the bounds that it tells.
void use(const mpi::Datatype& type) {
  constexpr std::int64_t most_bytes = 1 << 16;
  const auto range = mpi::touched_bytes(0, 1, type);
  if (!range || type.size < 0) std::abort();
  if (type.size > most_bytes || range->end - range->begin > most_bytes) return;
  std::vector<std::byte> memory(static_cast<std::size_t>(range->end - range->begin));
  std::vector<std::byte> packed(static_cast<std::size_t>(type.size));
  // The address of the origin, which itself need not lie in the memory.
  auto* const origin = reinterpret_cast<std::byte*>(
      reinterpret_cast<std::uintptr_t>(memory.data()) - static_cast<std::uintptr_t>(range->begin));
  const mpi::View view(type, 1);
  if (view.pack(origin, 0, packed) != packed.size()) std::abort();
  if (view.unpack(origin, 0, packed) != packed.size()) std::abort();
}

}  // namespace

void type_description(std::span<const std::uint8_t> bytes) {
  static PredefinedObjects objects;
  Input input(bytes);
  std::vector<std::int64_t> words;
  const std::uint8_t kind = input.byte();
  if (kind < 16) {
    const std::vector<std::byte> all = input.bytes(bytes.size());
    words.resize(all.size() / sizeof(std::int64_t));
    if (!words.empty()) std::memcpy(words.data(), all.data(), words.size() * sizeof words[0]);
  } else {
    words = {input.number(8), input.number(128)};
    add_layout(input, words, 0);
    if (kind % 32 == 0) words.pop_back();
  }
  auto type = mpi::described_type(objects.library, words);
  if (type.failed()) return;
  use(**type);
  // Described again it is the same type.
  auto again = mpi::described_type(objects.library, mpi::describe_type(**type));
  if (again.failed() || (*again)->size != (*type)->size || (*again)->lb != (*type)->lb ||
      (*again)->extent != (*type)->extent || (*again)->true_lb != (*type)->true_lb ||
      (*again)->true_extent != (*type)->true_extent) {
    std::abort();
  }
}

}  // namespace fulmar::fuzz
