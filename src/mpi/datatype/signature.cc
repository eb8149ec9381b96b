// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#include "mpi/datatype/signature.h"

#include <algorithm>

namespace fulmar::mpi {
namespace {

/// Lists of parts up to this length are copied into a list that contains them, longer ones are
/// shared: types built in many small steps stay flat.
constexpr std::size_t inlined_parts = 16;

void append(std::vector<SignatureRef>& kept, const SignatureRef& part) {
  if (part->bytes() == 0) return;
  if (part->basic == nullptr && part->count == 1 && part->parts.size() <= inlined_parts) {
    for (const auto& inner : part->parts) append(kept, inner);
  } else if (!kept.empty() && part->basic != nullptr && kept.back()->basic == part->basic) {
    auto joined = std::make_shared<Signature>(*kept.back());
    joined->count += part->count;
    kept.back() = std::move(joined);
  } else {
    kept.push_back(part);
  }
}

}  // namespace

SignatureRef make_signature(const BasicType& basic) {
  auto made = std::make_shared<Signature>();
  made->basic = &basic;
  made->count = 1;
  made->part_bytes = basic.size;
  made->part_elements = 1;
  made->part_external = basic.external;
  return made;
}

SignatureRef make_repeated(const SignatureRef& signature, std::int64_t count) {
  if (count == 1) return signature;
  if (count == 0 || signature->bytes() == 0) return std::make_shared<Signature>();
  auto made = std::make_shared<Signature>(*signature);
  made->count *= count;
  return made;
}

SignatureRef make_sequence(std::span<const SignatureRef> parts) {
  std::vector<SignatureRef> kept;
  for (const auto& part : parts) append(kept, part);
  if (kept.empty()) return std::make_shared<Signature>();
  if (kept.size() == 1) return kept[0];
  auto made = std::make_shared<Signature>();
  made->count = 1;
  for (const auto& part : kept) {
    made->part_bytes += part->bytes();
    made->part_elements += part->elements();
    made->part_external += part->external_bytes();
    made->depth = std::max<std::uint16_t>(made->depth, part->depth + 1);
  }
  made->parts = std::move(kept);
  return made;
}

ElementCount count_elements(const Signature& signature, std::int64_t bytes) {
  if (signature.part_bytes == 0) return {0, bytes};
  const std::int64_t whole = bytes / signature.part_bytes;
  ElementCount result{whole * signature.part_elements, bytes - whole * signature.part_bytes};
  for (const auto& part : signature.parts) {
    if (result.rest == 0) break;
    const std::int64_t inside = std::min(result.rest, part->bytes());
    const ElementCount more = count_elements(*part, inside);
    result.elements += more.elements;
    result.rest -= inside;
    if (more.rest != 0) return {result.elements, more.rest};
  }
  return result;
}

}  // namespace fulmar::mpi
