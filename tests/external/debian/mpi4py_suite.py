# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Runs mpi4py's own tests in this folder, as each rank of a job."""

import sys
import unittest

tests = unittest.defaultTestLoader.discover(".")
sys.exit(not unittest.TextTestRunner().run(tests).wasSuccessful())
