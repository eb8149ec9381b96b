# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Somebody who knows no key, against a job that runs: messages still flow and arrive as they were sent, ranks take no
more memory and descriptors, and say at most a line a second for each kind (docs/security.md)."""

import os
import pathlib
import re
import subprocess
import sys
import time

import network_job
import strangers
from support import main, wait_until

STRANGERS = pathlib.Path(strangers.__file__)
KINDS = ("scan", "garbage", "slow", "replay", "reflect", "other_job", "wrong_key", "crowd")
# What each is refused with; None: with nothing at all, or the lines of others.
SAID = {"garbage": "it speaks something else than this job", "other_job": "it belongs to another job",
        "slow": "it said nothing, or not enough, in time|too many connections at once",
        "reflect": "it does not know the key of this job", "wrong_key": "it does not know the key of this job"}
ADDRESSES = ("10.3.0.1", "10.3.1.1")
MOST_GUESTS = 64


class Strangers(network_job.JobsTest):
    """Ranks 0 and 1 talk on two hosts. Rank 2 has said nothing to them, so its place is free. The strangers are on a
    host of their own. They know what one of the two has said to the other, their victim, in its handshake."""

    def setUp(self):
        super().setUp()
        self.third = self.host()
        for number, host in enumerate((self.one, self.other)):
            addresses = (f"10.3.{number}.3/24", f"{ADDRESSES[number]}/24")
            network_job.hosts.link(self.third, f"eth{number}", host, "eth1", addresses)
        recorder = subprocess.Popen(self.other.inside(sys.executable, "-B", STRANGERS, "record"),
                                    stdout=subprocess.PIPE, text=True)
        recorder.stdout.readline()
        self.job = self.start("talk", places=(self.one, self.other, self.other))
        self.job.await_start()
        self.recorded = recorder.stdout.readline().split()
        self.victim = strangers.fields_of(bytes.fromhex(self.recorded[0]))["to"]
        recorder.wait(20)
        recorder.stdout.close()

    def port(self):
        """Where the victim listens, as everybody on its host can see."""
        host = (self.one, self.other)[self.victim]
        listeners = subprocess.run(host.inside("ss", "-4Htlnp"), capture_output=True, text=True, check=True).stdout
        own = [line for line in listeners.splitlines() if f"pid={self.job.pid(self.victim)}," in line]
        ports = {line.split()[3].rsplit(":", 1)[1] for line in own}
        self.assertTrue(ports, listeners)
        return ports.pop()

    def attack(self, kind):
        done = subprocess.run(self.third.inside(sys.executable, "-B", STRANGERS, kind, ADDRESSES[self.victim],
                                                self.port(), *self.recorded),
                              capture_output=True, text=True, check=False, timeout=100)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.splitlines()

    def memory_kb(self):
        status = pathlib.Path(f"/proc/{self.job.pid(self.victim)}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+) kB", status)[1])

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.job.pid(self.victim)}/fd"))

    def lines(self):
        """{kind: how many lines the victim has written}"""
        found = {}
        for line in self.job.text(self.victim).splitlines():
            words = re.fullmatch(r"fulmar: rank [01] of 3: tcp: a connection from 10\.3\.[01]\.3:\d+ was refused: (.*?)"
                                 r"(?: \(and \d+ more like it\))?", line)
            self.assertIsNotNone(words, f"not a line about strangers: {line}")
            found[words[1]] = found.get(words[1], 0) + 1
        return found

    def says(self, kind, before):
        """Whether the victim has written a line about that since then. One that follows another within a second is kept
        back, so one stranger may go unmentioned."""
        return any(count > before.get(text, 0) and re.search(SAID[kind], text) for text, count in self.lines().items())

    def test_one_after_the_other(self):
        self.attack("garbage")  # what is allocated once is there
        fewest = self.descriptors()
        memory = self.memory_kb()
        since = time.monotonic()
        for kind in KINDS:
            with self.subTest(kind=kind):
                before = self.lines()
                answers = self.attack(kind)
                self.assertFalse(self.job.ended(), self.job.all_text())
                self.job.await_beats(10, ranks=(0, 1))
                self.assertLessEqual(self.descriptors(), fewest + MOST_GUESTS)
                if kind in SAID:
                    wait_until(lambda: self.says(kind, before) or (self.attack(kind) and False), f"a line about {kind}")
                self.check_answers(kind, answers)
        took = time.monotonic() - since
        for text, count in self.lines().items():
            self.assertLessEqual(count, took + 3, text)
        wait_until(lambda: self.descriptors() <= fewest, "the end of the strangers' connections", 25)
        self.assertLess(self.memory_kb() - memory, 1024)
        self.assert_goes_well(self.job)

    def check_answers(self, kind, answers):
        """A hello with the right form gets a challenge, one of another version the number of ours, nobody gets more."""
        lengths = [line.split()[0] for line in answers]
        if kind == "garbage":  # two are hellos of versions that do not exist
            self.assertEqual(sorted(lengths), ["0"] * (len(lengths) - 2) + ["80"] * 2, answers)
        if kind in ("replay", "wrong_key", "reflect"):
            self.assertIn("80", lengths, answers)
        if kind in ("wrong_key", "reflect"):
            self.assertEqual(lengths[:40:2] + lengths[1:40:2], ["80"] * 20 + ["0"] * 20, answers)
        if kind == "replay":
            self.assertEqual(set(lengths[1::2]), {"0"}, answers)
        if kind == "other_job":
            self.assertEqual(set(lengths), {"0"}, answers)
        if kind == "slow":
            self.assertEqual(answers[-1], "left 0")


if __name__ == "__main__":
    main()
