# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Boots guests, waits for them, and says how their command ended."""

import dataclasses
import os
import pathlib
import selectors
import shutil
import signal
import sys
import tempfile
import time

from . import guest as guests

TIME_LIMIT = 124
SOCKETS_S = 10  # for the first guest to listen


@dataclasses.dataclass
class Limits:
    """In seconds."""
    total_s: int
    grace_s: int  # for the others, when one guest has failed


@dataclasses.dataclass
class Show:
    """What is printed beside the output of the command."""
    label: bool
    verbose: bool


class Run:
    """The guests of one call."""

    def __init__(self, limits, show):
        self.limits, self.show = limits, show
        self.begin = time.monotonic()
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="rdmavm-"))
        self.guests = []
        self.selector = selectors.DefaultSelector()

    def start(self, image, shape, accel, command):
        (self.folder / "shared").mkdir()
        os.chmod(self.folder / "shared", 0o1777)
        initramfs = self.folder / "initramfs"
        image.write_initramfs(initramfs, shape.nfs)
        boot = guests.boot_words(image, initramfs, shape, accel)
        for number in range(shape.nodes):
            guest = guests.Guest(number, shape, boot, self.folder, command)
            self.guests.append(guest)
            label = f"[{number}] ".encode() if self.show.label else b""
            guest.copy_output((sys.stdout.buffer, sys.stderr.buffer), label)
            self.selector.register(os.pidfd_open(guest.process.pid), selectors.EVENT_READ, guest)
            if number == 0 and shape.nodes > 1:
                self._wait_for_wires(guest, shape)

    def _wait_for_wires(self, first, shape):
        """The other guests connect to sockets of the first one."""
        last = guests.wire(self.folder, shape.rails - 1, shape.nodes - 1)
        end = time.monotonic() + SOCKETS_S
        while not last.exists() and first.process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)

    def wait(self):
        """The exit status, once all guests have ended or their time is up."""
        left, result = len(self.guests), 0
        deadline = self.begin + self.limits.total_s
        while left > 0:
            events = self.selector.select(max(0.0, deadline - time.monotonic()))
            if not events:
                return result or self._out_of_time()
            for key, _ in events:
                self.selector.unregister(key.fd)
                os.close(key.fd)
                left -= 1
                status = self._status_of(key.data)
                if status != 0 and result == 0:
                    result = status
                    deadline = min(deadline, time.monotonic() + self.limits.grace_s)
        return result

    def _status_of(self, guest):
        guest.end()
        status = guest.status()
        if status is None:
            say(f"guest {guest.number} ended without a status; its last words:\n{guest.last_words()}")
            return guests.GUEST_FAILED
        if status != 0 and len(self.guests) > 1:
            say(f"guest {guest.number}: exit status {status}")
        if self.show.verbose:
            say(f"console of guest {guest.number}:\n{guest.console.read_text(errors='replace')}")
        return status

    def _out_of_time(self):
        say(f"time limit of {self.limits.total_s} s")
        for guest in self.guests:
            if guest.process.poll() is None:
                say(f"console of guest {guest.number}:\n{guest.last_words()}")
        return TIME_LIMIT

    def close(self):
        for guest in self.guests:
            guest.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def run(image, shape, accel, command, limits, show):
    """Boots guests and runs the command in each; its exit status as rdmavm tells it."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, lambda number, _: sys.exit(128 + number))
    accel = guests.choose_accel(accel)
    everything = Run(limits, show)
    try:
        everything.start(image, shape, accel, command)
        status = everything.wait()
        if show.verbose:
            say(f"status {status} after {time.monotonic() - everything.begin:.1f} s, {accel}")
        return status
    finally:
        everything.close()


def say(text):
    print(f"rdmavm: {text}", file=sys.stderr, flush=True)
