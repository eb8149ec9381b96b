# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Fake hosts out of name spaces; see tests/support/fakecluster."""
