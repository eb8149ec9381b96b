# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A rank that dies or leaves where all take part in a checkpoint is an error of the others, and no hang; and the job can go on under
another mpiexec."""

import os
import subprocess
import tempfile
import unittest

RANKS = 4


def survivors(mode, fabric):
    """(the lines of the other ranks, exit code of mpiexec)."""
    command = [os.environ["MPIEXEC"], "--on-failure=continue", "--timeout", "60", "-n", str(RANKS), os.environ["FAULT_CHECKPOINT"], mode]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, FULMAR_FABRIC=fabric))
    return sorted(done.stdout.splitlines()), done


# Each rank of the outer mpiexec says where that is. Rank 0 starts the inner job, whose ranks descend from it as
# the processes of a restarter would, and the others wait until it has ended.
OUTER = """
env | grep ^FULMAR_ > $FOLDER/new.$FULMAR_RANK && mv $FOLDER/new.$FULMAR_RANK $FOLDER/launcher.$FULMAR_RANK
if test $FULMAR_RANK = 0; then
  until test -e $FOLDER/launcher.1; do :; done
  "$MPIEXEC" -n 2 "$FAULT_CHECKPOINT" $MODE $FOLDER
  code=$?
  : > $FOLDER/ended
  exit $code
fi
until test -e $FOLDER/ended; do sleep 0.01; done
"""


def nested(mode, fabric):
    with tempfile.TemporaryDirectory(prefix="fulmar-checkpoint-") as folder:
        return subprocess.run([os.environ["MPIEXEC"], "--timeout", "60", "-n", "2", "sh", "-c", OUTER], capture_output=True, text=True,
                              check=False, stdin=subprocess.DEVNULL,
                              env=dict(os.environ, FULMAR_FABRIC=fabric, FOLDER=folder, MODE=mode))


class Launchers(unittest.TestCase):
    def test_all_goes_on_under_another_mpiexec(self):
        for fabric in ("shm", "tcp"):
            done = nested("moves", fabric)
            self.assertEqual((done.returncode, sorted(done.stdout.splitlines()), done.stderr), (0, ["rank 0: moved", "rank 1: moved"], ""))

    def test_the_place_of_another_rank_is_refused(self):
        done = nested("swaps", "shm")
        lines = sorted(done.stdout.splitlines())
        self.assertEqual(len(lines), 2, done.stdout + done.stderr)
        for rank, line in enumerate(lines):
            self.assertRegex(line, f"^rank {rank}: resume: other: .*is that of rank {1 - rank}, but this process is rank {rank}")


class Checkpoint(unittest.TestCase):
    def expect(self, mode, call, error_class, text):
        for fabric in ("shm", "tcp"):
            lines, done = survivors(mode, fabric)
            self.assertEqual(len(lines), RANKS - 1, done.stdout + done.stderr)
            for rank, line in zip((0, 2, 3), lines):
                self.assertRegex(line, f"^rank {rank}: {call}: {error_class}: .*{text}")

    def test_death_in_place_of_quiesce(self):
        self.expect("before", "quiesce", "proc_failed", r"rank 1 of the job has died")

    def test_death_between_quiesce_and_resume(self):
        # A survivor cannot finalize MPI without networks, so its end is a death to those who look later.
        self.expect("between", "resume", "proc_failed", r"rank [0-3] of the job has died")

    def test_leaving_in_place_of_quiesce(self):
        self.expect("leaves", "quiesce", "other", r"rank 1 has left MPI or ended")


if __name__ == "__main__":
    unittest.main()
