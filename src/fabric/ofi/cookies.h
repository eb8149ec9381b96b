// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/keyed_hash.h"
#include "wire/process_name.h"

namespace fulmar::fabric::ofi {

/// The cookie of messages from one process to another: 64 bits that cannot be predicted without the key
/// that their jobs share. A message with a wrong cookie is rejected. Never 0, except if the hash library
/// fails: no message has cookie 0.
///
/// This does not authenticate messages: an observer of the traffic learns the cookie. It keeps out other
/// processes, and stray messages of other jobs and other versions. See docs/security.md.
[[nodiscard]] std::uint64_t pair_cookie(const base::KeyedHash& hash, const base::Key& key,
                                        const wire::ProcessName& from,
                                        const wire::ProcessName& to) noexcept;

}  // namespace fulmar::fabric::ofi
