// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// What the library exports.
#pragma GCC visibility push(default)
#include "vipl/vipl.h"
#pragma GCC visibility pop
