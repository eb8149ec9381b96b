// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

namespace fulmar::compat {

/// Makes ready what this ABI needs before its first handle is converted. Called once, when the library is loaded.
void prepare_objects();

}  // namespace fulmar::compat
