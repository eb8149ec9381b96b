// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include <cstdint>

#include "base/keyed_hash.h"
#include "wire/process_name.h"

namespace fulmar::fabric::ofi {

/// The cookie of the messages from one process to another: 64 bits that nobody foresees who does
/// not know the key that their jobs share. A message that shows the wrong one is a stranger's. Never
/// 0, but where the library for hashes refuses: no message has cookie 0.
///
/// This is no authentication of messages: who reads the traffic learns the cookie. It keeps out who
/// does not, and the stray messages of other jobs and of other versions of the packets. See
/// docs/security.md.
[[nodiscard]] std::uint64_t pair_cookie(const base::KeyedHash& hash, const base::Key& key,
                                        const wire::ProcessName& from,
                                        const wire::ProcessName& to) noexcept;

}  // namespace fulmar::fabric::ofi
