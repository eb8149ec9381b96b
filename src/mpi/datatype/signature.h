// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "mpi/datatype/basic.h"

namespace fulmar::mpi {

struct Signature;
using SignatureRef = std::shared_ptr<const Signature>;

/// The type signature of a datatype (MPI 5.0 section 5.1): which basic elements, in which order,
/// without their addresses. Either `count` times one basic type, or `count` times a list of parts.
/// Immutable and shared like Layout.
struct Signature {
  const BasicType* basic = nullptr;  ///< set: no parts
  std::uint16_t depth = 1;           ///< levels of the tree; as for Layout
  std::int64_t count = 0;
  std::vector<SignatureRef> parts;
  std::int64_t part_bytes = 0;     ///< of one repetition
  std::int64_t part_elements = 0;  ///< likewise
  std::int64_t part_external = 0;  ///< bytes in the representation external32, likewise

  [[nodiscard]] std::int64_t bytes() const noexcept { return part_bytes * count; }
  [[nodiscard]] std::int64_t elements() const noexcept { return part_elements * count; }
  [[nodiscard]] std::int64_t external_bytes() const noexcept { return part_external * count; }
};

[[nodiscard]] SignatureRef make_signature(const BasicType& basic);
[[nodiscard]] SignatureRef make_repeated(const SignatureRef& signature, std::int64_t count);
[[nodiscard]] SignatureRef make_sequence(std::span<const SignatureRef> parts);

/// How many basic elements the first `bytes` bytes of endless repetitions of a signature make up.
struct ElementCount {
  std::int64_t elements;
  std::int64_t rest;  ///< bytes of an incomplete last element
};
[[nodiscard]] ElementCount count_elements(const Signature& signature, std::int64_t bytes);

}  // namespace fulmar::mpi
