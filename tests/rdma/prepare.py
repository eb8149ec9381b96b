# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Makes sure of the kernel of the guests: once a download of 70 MB, kept in ~/.cache/fulmar."""

import support

print(support.prepare())
