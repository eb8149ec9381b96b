# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""System calls that Python's library lacks."""

import ctypes
import os

NEW_MOUNTS, NEW_HOST_NAME, NEW_IPC = 0x20000, 0x4000000, 0x8000000
NEW_PIDS, NEW_NETWORK = 0x20000000, 0x40000000
BIND, RECURSIVE, PRIVATE = 4096, 16384, 1 << 18
DETACH = 2
SET_PARENT_DEATH_SIGNAL = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _check(status, what):
    if status != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def unshare(flags):
    _check(_libc.unshare(flags), "unshare")


def mount(source, target, kind=None, flags=0, data=None):
    words = [None if word is None else word.encode() for word in (source, target, kind, data)]
    _check(_libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]), f"mount {target}")


def unmount_lazily(target):
    _libc.umount2(target.encode(), DETACH)


def die_with_parent(signal_number):
    _libc.prctl(SET_PARENT_DEATH_SIGNAL, signal_number)
