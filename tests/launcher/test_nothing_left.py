# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
import os
import pathlib
import signal
import subprocess

from support import (FAKE_RANK, LIMIT_S, MPIEXEC, LauncherTest, alive, children_of, holders_of_job_memory, processes,
                     read_stat, wait_until)

KILL_AT = os.environ["KILL_AT"]

# A rank with children of its own: one in the background of the shell, one orphan, one that ignores all it can.
FAMILY = """
sleep 1000 & echo $! > child.$FULMAR_RANK
(setsid_free() { sh -c 'sleep 1001 & echo $! > orphan.'$FULMAR_RANK; }; setsid_free)
(trap '' TERM INT HUP; sleep 1002) & echo $! > stubborn.$FULMAR_RANK
stat -L -c %i /proc/self/fd/$FULMAR_JOB_FD > inode.$FULMAR_RANK
echo $$ > up.$FULMAR_RANK
"""


class NothingLeft(LauncherTest):
    def start_family(self, last_words, ranks=2):
        process = self.start_job("-n", ranks, *self.sh(FAMILY + last_words))
        names = [f"{kind}.{rank}" for kind in ("child", "orphan", "stubborn", "up") for rank in range(ranks)]
        pids = [int(text) for text in self.wait_for_files(*names)]
        inode = int(self.wait_for_files("inode.0")[0])
        for pid in pids:
            self.assertTrue(alive(pid), f"process {pid} of the family")
        self.assertTrue(holders_of_job_memory(inode))
        return process, pids, inode, [int(text) for text in self.wait_for_files("up.0", "up.1")]

    def assert_nothing_left(self, pids, inode):
        self.assert_gone(*pids, limit_s=LIMIT_S)
        wait_until(lambda: not holders_of_job_memory(inode), "end of the job's memory", LIMIT_S)

    def guard_of(self, process, before=0):
        """The guard of a job; a new one, if that was `before`."""
        found = []

        def find():
            found[:] = [pid for pid, name in children_of(process.pid).items()
                        if name == "fulmar-guard" and pid != before]
            return found
        wait_until(find, "a guard")
        return found[0]

    def test_after_a_clean_end(self):
        process, pids, inode, _ = self.start_family("until [ -e go ]; do sleep 0.01; done")
        (self.folder / "go").touch()
        self.assertEqual(process.wait(timeout=20), 0)
        self.assert_nothing_left(pids, inode)

    def test_after_sigkill_of_a_rank(self):
        process, pids, inode, ranks = self.start_family("sleep 1000")
        os.kill(ranks[1], signal.SIGKILL)
        self.assert_nothing_left(pids, inode)
        self.assertEqual(process.wait(timeout=20), 137)

    def test_after_sigkill_of_mpiexec(self):
        process, pids, inode, _ = self.start_family("sleep 1000")
        guard = self.guard_of(process)
        process.kill()
        self.assert_nothing_left([*pids, guard], inode)

    def test_after_sigterm(self):
        process, pids, inode, _ = self.start_family("sleep 1000")
        process.terminate()
        self.assertEqual(process.wait(timeout=20), 143)
        self.assert_nothing_left(pids, inode)

    def test_after_timeout(self):
        process = self.start_job("--timeout", 2, "-n", 2, *self.sh(FAMILY + "sleep 1000"))
        pids = [int(text) for text in self.wait_for_files("child.0", "orphan.1", "stubborn.0", "up.1")]
        inode = int(self.wait_for_files("inode.0")[0])
        self.assertEqual(process.wait(timeout=20), 124)
        self.assert_nothing_left(pids, inode)

    def test_killed_guard_is_replaced(self):
        process, pids, inode, _ = self.start_family("sleep 1000")
        first = self.guard_of(process)
        os.kill(first, signal.SIGKILL)
        self.guard_of(process, before=first)
        process.kill()
        self.assert_nothing_left(pids, inode)

    def marked(self, mark):
        """Living processes with `mark` in their environment."""
        found = []
        for pid in processes():
            try:
                if mark in pathlib.Path(f"/proc/{pid}/environ").read_bytes() and alive(pid):
                    found.append(pid)
            except OSError:
                pass
        return found

    def kill_while_it_starts(self, what, when):
        """The exit code of kill_at; nothing may be left."""
        mark = f"FULMAR_TEST_MARK={self.folder.name}.{when}"
        result = subprocess.run(
            ["env", mark, KILL_AT, what, str(when), MPIEXEC, "-n", "2",
             *self.sh("sleep 1000 & sleep 1001 & exec sleep 1002")],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
            timeout=60).returncode
        if result == 77:
            self.skipTest("needs ptrace")
        wait_until(lambda: not self.marked(mark.encode()), f"end of all processes, {what} killed at {when}", 10 * LIMIT_S)
        return result

    def test_mpiexec_killed_while_it_starts(self):
        """At system calls all the way from mpiexec's first process to where it waits for the ranks."""
        for what, step in (("process", 7), ("group", 11)):
            stops = 0
            while (result := self.kill_while_it_starts(what, stops)) == 0:
                stops += step
            self.assertEqual(result, 4, "it should have come to rest in the end")
            self.assertGreater(stops, 100)

    def test_group_of_mpiexec_killed_before_its_guard_has_run(self):
        self.assertEqual(self.kill_while_it_starts("group", "held"), 0)

    def test_nested_job_ends_with_the_outer_rank(self):
        process = self.start_job("-n", 2, *self.sh(
            f"cd . && '{MPIEXEC}' -n 2 sh -c 'sleep 1000 & echo $! > in.'$FULMAR_RANK'.$FULMAR_RANK; wait'"))
        pids = [int(text) for text in self.wait_for_files("in.0.0", "in.0.1", "in.1.0", "in.1.1")]
        process.kill()
        self.assert_gone(*pids, limit_s=2 * LIMIT_S)

    def test_failed_start_leaves_nothing(self):
        script = self.folder / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        result = self.run_job("-n", 3, *self.sh("sleep 1000 & echo $! > pid.$FULMAR_RANK; wait"), ":",
                              "./script")
        self.assertEqual(result.returncode, 127)
        for path in self.folder.glob("pid.*"):
            if path.read_text().strip():
                self.assert_gone(int(path.read_text()), limit_s=LIMIT_S)

    def test_orphans_of_a_running_rank_are_reaped(self):
        process = self.start_job("-n", 1, *self.sh(
            "for i in 1 2 3 4 5 6 7 8; do sh -c 'true &'; done; echo > up; sleep 1000"))
        self.wait_for_files("up")
        def zombies():
            return [pid for pid in children_of(process.pid) if (read_stat(pid) or "-")[0] == "Z"]
        wait_until(lambda: not zombies(), "no zombies")
        process.terminate()

    def test_no_named_files(self):
        def names():
            return {path for folder in ("/dev/shm", "/tmp") for path in os.listdir(folder)
                    if "fulmar" in path and not path.startswith("fulmar-launcher-")}
        before = names()
        process = self.start_job("-n", 2, FAKE_RANK, "init", "touch", "barrier", "say", "up", "forever")
        process.stdout.readline()
        self.assertEqual(names() - before, set())
        process.kill()
