// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::fabric {

/// A list of provider types, best first.
template <class... P>
struct ProviderList {};

}  // namespace fulmar::fabric
