# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Ranks and mpiexec that are killed at random moments of collective writes: the job ends within 10 s, and what was
reported as written is in the file. FULMAR_TEST_KILLS (8) is how often."""

import os
import random
import signal
import subprocess
import sys
import time

from fault_support import FaultTest
from support import alive, wait_until

JOURNAL = os.environ["FAULT_FILE_JOURNAL"]
KILLS = int(os.environ.pop("FULMAR_TEST_KILLS", 8))
RANKS = 3
PIECE = 64
BYTES = 1 << 16
MOST_ROUNDS = 600
LIMIT_S = 10
FIRST_RANK_ALONE = 476347236  # a seed: rank 0 of ranks that write each for itself, over shared memory; the others go on


class Kills(FaultTest):
    def journal(self, rank):
        path = self.folder / f"file.{rank}"
        return path.read_text().splitlines(keepends=True) if path.exists() else []

    def reported(self, rank):
        """The newest round that the rank was told is written; a line that is cut off does not count."""
        rounds = [int(line.split()[1]) for line in self.journal(rank) if line.startswith("round ") and line.endswith("\n")]
        return rounds[-1] if rounds else -1

    def check_file(self, context):
        content = (self.folder / "file").read_bytes()
        for rank in range(RANKS):
            newest = self.reported(rank)
            for round_ in range(max(0, newest - MOST_ROUNDS + RANKS), newest + 1):
                # Of a later round that was under way the same place may hold newer data.
                newer = {1 + ((round_ + MOST_ROUNDS) * 7 + rank) % 255} if round_ + MOST_ROUNDS <= newest + 1 else set()
                value = 1 + (round_ * 7 + rank) % 255
                first = (round_ % MOST_ROUNDS) * BYTES * RANKS
                found = content[first:first + BYTES * RANKS]
                own = b"".join(found[at + rank * PIECE:at + (rank + 1) * PIECE] for at in range(0, len(found), RANKS * PIECE))
                self.assertEqual(len(own), BYTES, f"{context}: round {round_} of rank {rank} is cut off")
                self.assertLessEqual(set(own), {value} | newer, f"{context}: round {round_} of rank {rank}")

    def kill_once(self, seed, processors=None):
        dice = random.Random(seed)
        victim = [0, 1, 2, "mpiexec"][seed % 4]
        way = ["two-phase", "alone"][seed // 4 % 2]
        going_on = dice.random() < 0.5 and victim != "mpiexec"
        network = dice.choice(["shm", "tcp"])
        rounds = dice.randrange(1, 40)
        context = f"seed {seed}: {victim} killed after round {rounds}, {way}, {network}, going on: {going_on}"
        for path in self.folder.glob("file*"):
            path.unlink()
        options = ["--on-failure=continue"] if going_on else []
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, processors or before)
        job = self.start_job("-n", RANKS, *options, JOURNAL, self.folder / "file", way, env={"FULMAR_FABRIC": network})
        os.sched_setaffinity(0, before)
        wait_until(lambda: min(self.reported(rank) for rank in range(RANKS)) >= rounds, f"{context}: writes", 60)
        pids = [int(self.journal(rank)[0].split()[1]) for rank in range(RANKS)]
        os.kill(job.pid if victim == "mpiexec" else pids[victim], signal.SIGKILL)
        begin = time.monotonic()
        wait_until(lambda: job.poll() is not None and not any(alive(pid) for pid in pids), f"{context}: the end", 60)
        self.assertLess(time.monotonic() - begin, LIMIT_S * (3 if "ASAN_OPTIONS" in os.environ else 1), context)
        self.assertNotEqual(job.returncode, 0, context)
        for rank in range(RANKS):
            errors = [line for line in self.journal(rank) if line.startswith("error ")]
            if going_on and rank != victim:
                self.assertEqual(len(errors), 1, f"{context}: rank {rank}")
        self.check_file(context)

    def test_a_death_is_noticed_beside_other_programs(self):
        """Ranks that share a processor with programs that never stop: each time they yield takes milliseconds."""
        processors = os.sched_getaffinity(0)
        self.addCleanup(os.sched_setaffinity, 0, processors)
        os.sched_setaffinity(0, {min(processors)})
        for _ in range(8):
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(other.wait)
            self.addCleanup(other.kill)
        os.sched_setaffinity(0, processors)
        self.kill_once(FIRST_RANK_ALONE, {min(processors)})

    def test_what_was_reported_as_written_is_there(self):
        first = random.randrange(1 << 30) if KILLS > 8 else 1
        print(f"seeds from {first} on")
        for seed in range(first, first + KILLS):
            with self.subTest(seed=seed):
                self.kill_once(seed)
