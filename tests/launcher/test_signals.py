# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
import os
import pathlib
import re
import signal
import subprocess
import time

from support import MPIEXEC, LauncherTest, alive, children_of, read_stat, wait_until

# A rank that writes the name of each signal it gets to a file and ends on the second TERM.
CATCHER = """
for s in INT TERM HUP QUIT USR1 USR2 CONT; do trap "echo $s >> got.$FULMAR_RANK" $s; done
echo $$ > up.$FULMAR_RANK
until [ -e stop ]; do sleep 0.02; done
"""
PLAIN = "echo $$ > up.$FULMAR_RANK; while :; do sleep 0.05; done"
# The same without starting anything after that: a shell between vfork and exec of its child is not seen as stopped.
QUIET = "sleep 1000 & echo $$ > up.$FULMAR_RANK; wait"


class Signals(LauncherTest):
    def setUp(self):
        super().setUp()
        # nohup around the tests would have mpiexec ignore it, too.
        self.addCleanup(signal.signal, signal.SIGHUP, signal.signal(signal.SIGHUP, signal.SIG_DFL))

    def start(self, script, ranks=2, **options):
        process = self.start_job("-n", ranks, *self.sh(script), **options)
        pids = self.wait_for_files(*(f"up.{rank}" for rank in range(ranks)))
        return process, [int(pid) for pid in pids]

    def got(self, rank, name):
        path = self.folder / f"got.{rank}"
        return path.exists() and name in path.read_text().split()

    def test_signals_reach_every_rank(self):
        for name in ("USR1", "USR2", "CONT", "INT", "TERM", "HUP", "QUIT"):
            with self.subTest(signal=name):
                process, _ = self.start(CATCHER)
                process.send_signal(getattr(signal, "SIG" + name))
                for rank in range(2):
                    wait_until(lambda: self.got(rank, name), f"SIG{name} at rank {rank}")
                (self.folder / "stop").touch()
                self.assertEqual(process.wait(timeout=20), 0)
                for path in self.folder.iterdir():
                    path.unlink()

    def test_end_by_a_signal_is_128_plus_its_number(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            with self.subTest(signal=number):
                process = self.start_job("-n", 2, "sleep", 60)
                wait_until(lambda: list(children_of(process.pid).values()).count("sleep") == 2, "two ranks")
                process.send_signal(number)
                self.assertEqual(process.wait(timeout=20), 128 + number)

    def test_second_interrupt_kills_at_once(self):
        process, pids = self.start("trap '' INT TERM; " + PLAIN)
        process.send_signal(signal.SIGINT)
        self.assertIn(b"SIGINT", process.stderr.readline())
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(timeout=20), 130)
        self.assertLess(time.monotonic() - begin, 4)
        self.assert_gone(*pids)

    def test_ranks_that_ignore_the_interrupt_are_killed_after_the_grace(self):
        process, pids = self.start("trap '' TERM; " + PLAIN)
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(timeout=30), 143)
        self.assert_gone(*pids)

    def test_stop_and_continue(self):
        process, pids = self.start(QUIET)
        process.send_signal(signal.SIGTSTP)
        for pid in [*pids, process.pid]:
            wait_until(lambda: read_stat(pid)[0] == "T", f"stop of {pid}")
        process.send_signal(signal.SIGCONT)
        for pid in [*pids, process.pid]:
            wait_until(lambda: read_stat(pid)[0] != "T", f"continuation of {pid}")
        process.terminate()
        self.assertEqual(process.wait(timeout=20), 143)

    def test_rank_with_a_handler_for_stop_keeps_running(self):
        process, pids = self.start("trap 'echo TSTP >> got.$FULMAR_RANK' TSTP; " + PLAIN)
        process.send_signal(signal.SIGTSTP)
        for rank in range(2):
            wait_until(lambda: self.got(rank, "TSTP"), f"SIGTSTP at rank {rank}")
        wait_until(lambda: read_stat(process.pid)[0] == "T", "stop of mpiexec")
        process.send_signal(signal.SIGCONT)
        process.terminate()
        self.assertEqual(process.wait(timeout=20), 143)
        self.assert_gone(*pids)

    def test_stopped_job_can_be_killed(self):
        process, pids = self.start(PLAIN)
        process.send_signal(signal.SIGTSTP)
        wait_until(lambda: read_stat(process.pid)[0] == "T", "stop of mpiexec")
        process.kill()
        self.assert_gone(*pids)

    def test_background_of_a_shell_without_job_control(self):
        """There SIGINT and SIGQUIT are ignored; mpiexec forwards them all the same."""
        shell = subprocess.Popen(
            ["sh", "-c", f"'{MPIEXEC}' -n 2 sleep 60 & echo $! > pid; wait $!; echo $? > code"],
            cwd=self.folder, stderr=subprocess.DEVNULL)
        self.running.append(shell)
        pid = int(self.wait_for_files("pid")[0])
        wait_until(lambda: list(children_of(pid).values()).count("sleep") == 2, "two ranks")
        os.kill(pid, signal.SIGINT)
        self.assertEqual(self.wait_for_files("code")[0], "130")
        self.assertFalse(alive(pid))

    def test_hangup_that_nohup_ignores_stays_ignored(self):
        process, pids = self.start(CATCHER, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        for pid in {process.pid, *children_of(process.pid), *pids}:
            try:
                status = pathlib.Path(f"/proc/{pid}/status").read_text()
            except FileNotFoundError:  # some children are there for a moment only
                self.assertNotIn(pid, (process.pid, *pids))
                continue
            ignored = int(re.search(r"SigIgn:\s*(\w+)", status)[1], 16)
            self.assertTrue(ignored & 1 << signal.SIGHUP - 1, f"process {pid}")
        process.send_signal(signal.SIGHUP)
        process.send_signal(signal.SIGUSR1)  # taken after SIGHUP, if that one were taken
        wait_until(lambda: self.got(0, "USR1") and self.got(1, "USR1"), "SIGUSR1 at both ranks")
        (self.folder / "stop").touch()
        self.assertNotIn(b"SIGHUP", process.communicate(timeout=20)[1])
        self.assertEqual(process.returncode, 0)
