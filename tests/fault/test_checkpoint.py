# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""A rank that dies or leaves where all take part in a checkpoint is an error of the others, and no hang; and the job can go on under
another mpiexec."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "cluster"))
import patient_launcher  # noqa: E402

RANKS = 4
MOMENTS = int(os.environ.get("FAULT_CHECKPOINT_MOMENTS", "4"))


def survivors(mode, fabric, *arguments):
    """(the lines of the other ranks, exit code of mpiexec)."""
    command = [os.environ["MPIEXEC"], "--on-failure=continue", "--timeout", "60", "-n", str(RANKS), os.environ["FAULT_CHECKPOINT"], mode,
               *map(str, arguments)]
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
    def test_another_launcher_keeps_its_connection(self):
        with tempfile.TemporaryDirectory(prefix="fulmar-checkpoint-") as folder:
            texts = [os.path.join(folder, f"rank{rank}") for rank in range(2)]
            launcher = patient_launcher.Launcher([[os.environ["FAULT_CHECKPOINT"], "refused"]] * 2, texts, dict(os.environ))
            try:
                self.assertEqual(launcher.wait(60), 0)
            finally:
                launcher.end()
            for rank, text in enumerate(texts):
                with open(text, encoding="utf-8") as file:
                    self.assertRegex(file.read(), f"^rank {rank}: quiesce: unsupported: .*need Fulmar's mpiexec")

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

    def test_death_at_any_moment(self):
        """Also while networks are closed, when there is no way back."""
        for fabric in ("shm", "tcp"):
            for moment in range(MOMENTS):
                with self.subTest(fabric=fabric, moment=moment):
                    lines, done = survivors("within", fabric, 100 + 431 * moment)
                    self.assertEqual(len(lines), 2 * (RANKS - 1), done.stdout + done.stderr)
                    for rank, (barrier, checkpoint) in zip((0, 2, 3), zip(lines[::2], lines[1::2])):
                        self.assertRegex(checkpoint, f"^rank {rank}: checkpoint: proc_failed: ")
                        self.assertRegex(barrier, f"^rank {rank}: barrier: (proc_failed|other): ")

    def test_leaving_in_place_of_quiesce(self):
        self.expect("leaves", "quiesce", "other", r"rank 1 has left MPI or ended")


if __name__ == "__main__":
    unittest.main()
