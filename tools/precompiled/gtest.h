// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// The same for tests.
#pragma once

#include <gtest/gtest.h>

#include "standard.h"
