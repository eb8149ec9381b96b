# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Virtual machines with soft-RoCE devices; see tests/support/rdmavm."""
