/* SPDX-License-Identifier: BSD-3-Clause
 * Copyright (c) 2026 the Fulmar authors
 *
 * Programs of today include this header of Dolphin's for the types whose names begin with dis_.
 */
#pragma once
#ifndef FULMAR_DIS_TYPES_H
#define FULMAR_DIS_TYPES_H

#include <sisci_types.h>

#endif /* FULMAR_DIS_TYPES_H */
