# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Runs in the first of two guests with two wires (soak_hosts.py): the second wire swallows everything from some moment
on, while a job has a rank on each guest. Their adapters repeat what is not answered until they give up. The first wire
stays, for the launcher.

usage: guest_cut_wire.py HYDRA
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

import guest_faults
from guest_faults import ENDED, NO_ANSWER, PROGRAM, PROMISED_S, START_S, wait_until

HYDRA = sys.argv.pop(1)
RSH = guest_faults.SOURCE / "tests" / "support" / "rdmavm-rsh"
CUT, OTHER = "eth1", "eth0"
LOST = (r"fulmar: rank {own} of 2: .*lost rank {other} at 10\.77\.\d\.\d, over verbs on rxe1:1: .*({cause}).*; "
        r"(run fulmar doctor on both hosts|see what it has printed)")


def on_both(command):
    """For a shell, on both guests."""
    subprocess.run(["sh", "-c", command], check=True)
    subprocess.run([RSH, "node1", command], check=True)


class FarJob(guest_faults.Job):
    """A rank of fault_peer on each guest; each writes how it ended to a file."""

    def __init__(self, what, settings):  # pylint: disable=super-init-not-called
        self.scratch = tempfile.TemporaryDirectory(prefix="cut-", dir=os.environ["NODE_SHARED"])
        self.folder = pathlib.Path(self.scratch.name)
        line = (f"{PROGRAM} {self.folder} {what} >{self.folder}/text.$PMI_RANK 2>&1; "
                f"echo $? >{self.folder}/new.$PMI_RANK; mv {self.folder}/new.$PMI_RANK {self.folder}/status.$PMI_RANK")
        clean = {name: value for name, value in os.environ.items() if not name.startswith("FULMAR_")}
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen([HYDRA, "-launcher", "ssh", "-launcher-exec", RSH, "-hosts", "node0,node1", "-n",
                                         "2", "sh", "-c", line], env=clean | settings, stdin=subprocess.DEVNULL)

    def status(self, rank):
        """None while it runs."""
        file = self.folder / f"status.{rank}"
        return int(file.read_text()) if file.exists() else None

    def ended(self):
        return self.process.poll() is not None

    def end(self):
        self.process.kill()
        self.process.wait()
        self.scratch.cleanup()


class CutWire(unittest.TestCase):
    def mend(self):
        on_both(f"tc qdisc del dev {CUT} root 2>/dev/null; true")

    tearDown = mend

    def start_and_await(self, what, **settings):
        job = FarJob(what, {"FULMAR_FABRIC": "verbs", **settings})
        self.addCleanup(job.end)
        self.await_beats(job, 2)
        return job

    def await_beats(self, job, count):
        goal = [job.beats(rank) + count for rank in range(2)]
        there = wait_until(lambda: all(job.beats(rank) >= goal[rank] for rank in range(2)) or job.ended(), START_S)
        self.assertTrue(there and not job.ended(), job.both())

    def cut(self):
        since = time.monotonic()
        on_both(f"tc qdisc add dev {CUT} root netem loss 100%")
        return since

    def test_alone(self):
        """The job ends, and who gives up first says why; the launcher may end the other before it has said so."""
        for what in ("talk", "stream"):
            with self.subTest(what=what):
                self.mend()
                job = self.start_and_await(what, FULMAR_VERBS_DEVICE="rxe1")
                since = self.cut()
                self.assertTrue(wait_until(job.ended, PROMISED_S - (time.monotonic() - since)), job.both())
                self.assertRegex(job.both(), NO_ANSWER)
                for own in range(2):
                    lost = LOST.format(own=own, other=1 - own, cause=f"{NO_ANSWER}|{ENDED}")
                    self.assertRegex(job.text(own), f"^$|{lost}")
                self.mend()

    def test_with_another_rail(self):
        """Nothing is lost, and the job goes on within the promised time."""
        for what in ("talk", "stream"):
            with self.subTest(what=what):
                self.mend()
                job = self.start_and_await(what, FULMAR_RAILS=f"verbs:rxe1+tcp:{OTHER}")
                since = self.cut()
                wait_until(lambda: "is given up" in job.both() or job.ended(), PROMISED_S)
                self.assertIn("is given up", job.both())
                before = [job.beats(rank) for rank in range(2)]
                wait_until(lambda: all(job.beats(rank) > before[rank] for rank in range(2)) or job.ended(), PROMISED_S)
                self.assertLess(time.monotonic() - since, PROMISED_S)
                (job.folder / "stop").touch()
                self.assertTrue(wait_until(lambda: None not in (job.status(0), job.status(1)), START_S), job.both())
                self.assertEqual([job.status(0), job.status(1)], [0, 0], job.both())


if __name__ == "__main__":
    unittest.main(verbosity=2)
