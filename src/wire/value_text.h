// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

/// Bytes as values of a launcher's key-value space, which holds short texts: base64 with `-` and
/// `_` and without padding, in parts of at most `pmi_value_limit` letters. The first part begins
/// with the number of parts and a dot, so none is ever empty: "1." is no bytes at all.
namespace fulmar::wire {

inline constexpr std::size_t most_value_parts = 64;

/// Fails (arg) when `bytes` would need more parts than that: some 28 KB.
base::Result<std::vector<std::string>> encode_value(std::span<const std::byte> bytes);

/// The number of parts according to the first one: 1 to `most_value_parts`, or an error (other).
base::Result<std::size_t> value_parts(std::string_view first);

/// Decodes all parts in order. Fails (other) when any is invalid.
base::Result<std::vector<std::byte>> decode_value(std::span<const std::string> parts);

}  // namespace fulmar::wire
