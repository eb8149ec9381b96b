# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What describes a program of Debian that is run on both libraries."""

import collections
import re

LIB = "/usr/lib/x86_64-linux-gnu"

# `mpi`: the one it was linked to. `prepare(root, folder)` puts files into the folder where it runs; False: it cannot be run.
# `results(output, folder)`: what has to be there and equal under both libraries, empty if it went wrong. `clock(output)`: its own
# seconds, or None.
Program = collections.namedtuple("Program", "name mpi ranks command results prepare clock", defaults=(None, None))


def lines(pattern):
    """All lines that match, as the results of a program."""
    return lambda output, folder: re.findall(pattern, output, re.M)


def clock(pattern):
    def seconds(output):
        found = re.search(pattern, output, re.M)
        return float(found[1]) if found else None
    return seconds
