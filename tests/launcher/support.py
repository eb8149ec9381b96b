# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What the tests of mpiexec share. Nothing here sleeps for a fixed time: conditions are polled."""

import os
import pathlib
import subprocess
import tempfile
import time
import unittest

MPIEXEC = os.environ["MPIEXEC"]
FAKE_RANK = os.environ["FAKE_RANK"]
DEADLINE_S = 20  # for things that should take milliseconds, on a busy machine


# The second after which nothing is left; a process with a sanitizer's shadow memory takes longer to end.
LIMIT_S = 10.0 if any(name in os.environ for name in ("ASAN_OPTIONS", "TSAN_OPTIONS")) else 1.0


def wait_until(condition, what, limit_s=DEADLINE_S):
    """Polls `condition` until it is true."""
    end = time.monotonic() + limit_s
    while not condition():
        if time.monotonic() > end:
            raise AssertionError(f"waited {limit_s} s in vain for: {what}")
        time.sleep(0.005)


def read_stat(pid):
    """(state, parent, session) of a process; None when it is gone."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    fields = text[text.rindex(")") + 2:].split()
    return fields[0], int(fields[1]), int(fields[3])


def alive(pid):
    """Whether a process is there and no zombie."""
    stat = read_stat(pid)
    return stat is not None and stat[0] not in "ZX"


def processes():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children_of(pid):
    """{pid: name} of the direct children."""
    found = {}
    for child in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
        try:
            found[int(child)] = pathlib.Path(f"/proc/{child}/comm").read_text().strip()
        except OSError:
            pass
    return found


def holders_of_job_memory(job_inode):
    """Processes that have the job's memory open or mapped."""
    found = []
    for pid in processes():
        try:
            if any("memfd:fulmar-job" in line and line.split()[4] == str(job_inode)
                   for line in pathlib.Path(f"/proc/{pid}/maps").read_text().splitlines()):
                found.append(pid)
                continue
            for fd in os.listdir(f"/proc/{pid}/fd"):
                status = os.stat(f"/proc/{pid}/fd/{fd}")
                if status.st_ino == job_inode and "fulmar-job" in os.readlink(f"/proc/{pid}/fd/{fd}"):
                    found.append(pid)
                    break
        except OSError:
            pass
    return found


class LauncherTest(unittest.TestCase):
    """Runs mpiexec in an empty folder."""

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="fulmar-launcher-")
        self.addCleanup(self._folder.cleanup)
        self.folder = pathlib.Path(self._folder.name)
        self.running = []
        self.addCleanup(self._end_all)

    def _end_all(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                if stream:
                    stream.close()

    def run_job(self, *arguments, stdin=b"", env=None, timeout=60, **options):
        """Runs to the end; gives the CompletedProcess with text output."""
        if "stdin_file" in options:
            options["stdin"] = options.pop("stdin_file")
        else:
            options["input"] = stdin
        result = subprocess.run([MPIEXEC, *map(str, arguments)], cwd=self.folder,
                                env=self.environment(env), timeout=timeout, check=False,
                                stdout=options.pop("stdout", subprocess.PIPE),
                                stderr=options.pop("stderr", subprocess.PIPE), **options)
        for name in ("stdout", "stderr"):
            value = getattr(result, name)
            if value is not None:
                setattr(result, name, value.decode())
        return result

    def start_job(self, *arguments, env=None, **options):
        """Starts mpiexec and returns at once."""
        options.setdefault("stdin", subprocess.DEVNULL)
        options.setdefault("stdout", subprocess.PIPE)
        options.setdefault("stderr", subprocess.PIPE)
        process = subprocess.Popen([MPIEXEC, *map(str, arguments)], cwd=self.folder,
                                   env=self.environment(env), **options)
        self.running.append(process)
        return process

    def environment(self, extra):
        return {**os.environ, "FAKE_RANK": FAKE_RANK, **(extra or {})}

    def sh(self, text):
        """A program for mpiexec: a shell script."""
        return ["sh", "-c", text]

    def wait_for_files(self, *names):
        """Waits for files that ranks write, and gives their texts."""
        paths = [self.folder / name for name in names]
        wait_until(lambda: all(path.exists() and path.read_text().endswith("\n") for path in paths),
                   f"files {names}")
        return [path.read_text().strip() for path in paths]

    def assert_gone(self, *pids, limit_s=DEADLINE_S):
        for pid in pids:
            wait_until(lambda: not alive(pid), f"end of process {pid}", limit_s)
