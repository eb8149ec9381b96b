// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
//
// What most files of the layers mpi and above include.
#pragma once

#include "device/device.h"
#include "mpi/library.h"
#include "standard.h"
