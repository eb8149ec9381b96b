// SPDX-License-Identifier: BSD-3-Clause
// Copyright (c) 2026 the Fulmar authors
// ranks: 2 4
// env: FULMAR_FABRIC=tcp

#include "environment/cancel_in_finalize.h"

int main() { return leaver::run(); }
