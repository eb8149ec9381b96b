// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

#include "vipl/messages.h"

namespace fulmar::vipl {

// Messages: what this process is called, and what others are.
void on_name(Provider& provider, const wire::ViplMessage& message);
void on_named(Provider& provider, const wire::ViplMessage& message);

}  // namespace fulmar::vipl
