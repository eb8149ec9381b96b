// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/keyed_hash.h"

/// Keys that two jobs share, and how they travel within a group.
namespace fulmar::mpi {

/// The key of job `own`, whose secret key is `own_key`, and job `other`. Of the two the one with
/// the lower number makes it, and sends it to the other. Knowing it does not help to find
/// `own_key`, nor the key of another pair. Nothing where the library refuses.
[[nodiscard]] std::optional<base::Key> pair_key(const base::KeyedHash& hash,
                                                const base::Key& own_key, std::uint32_t own,
                                                std::uint32_t other);

using WrapNonce = std::array<std::byte, 16>;

/// Hides a key sent to a process that knows `shared`, or decrypts it: the messages of a job may be
/// read by others. `place` is different for each key under one nonce, and a nonce is used once.
/// Against those who change messages it does not help, as nothing in a job does.
[[nodiscard]] std::optional<base::Key> wrapped(const base::KeyedHash& hash, const base::Key& shared,
                                               const WrapNonce& nonce, std::uint32_t place,
                                               const base::Key& key);

}  // namespace fulmar::mpi
