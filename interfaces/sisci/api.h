// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
#pragma once

// What the library exports.
#pragma GCC visibility push(default)
#include "sisci/sisci_api.h"
#pragma GCC visibility pop
