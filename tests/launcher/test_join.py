# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Ranks whose inherited descriptor was closed on the way, and those who have no business in the job."""

import array
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time
import unittest

from support import FAKE_RANK, LauncherTest, alive, wait_until

MPI_RANK = os.environ["MPI_RANK"]
CLOSE_ALL = os.environ["CLOSE_ALL"]
HELLO = struct.pack("=8sIIIi", b"FULMJOIN", 2, 0, 0, 0)
REFUSED_LINE = "mpiexec: refused to let process"


def knock(name):
    """A connection to mpiexec's socket."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    connection.settimeout(20)
    connection.connect("\0" + name)
    return connection


def answer(connection, hello=None):
    """What comes back: the packet, and whether a descriptor was with it. b"": closed."""
    try:
        if hello is not None:
            connection.send(hello)
        packet, control, _, _ = connection.recvmsg(64, 64)
    except (ConnectionResetError, BrokenPipeError):
        return b"", False
    fds = array.array("i")
    for _, _, data in control:
        fds.frombytes(data)
    for fd in fds:
        os.close(fd)
    return packet, bool(fds)


class Wrapped(LauncherTest):
    """MPI programs behind wrappers that close descriptors; the sum over all ranks shows one job."""

    def assert_one_job(self, ranks, *wrapper, env=None):
        result = self.run_job("-n", ranks, *wrapper, env=env)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        expected = {f"{rank} of {ranks}, sum {ranks * (ranks - 1) // 2}" for rank in range(ranks)}
        lines = {line.strip() for line in result.stdout.splitlines() if line.strip()}
        self.assertEqual(lines, expected)

    def test_python_subprocess(self):
        code = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], close_fds=True).returncode)"
        self.assert_one_job(3, sys.executable, "-c", code, MPI_RANK, "report")

    def test_program_that_closes_all_descriptors(self):
        self.assert_one_job(4, CLOSE_ALL, "none", MPI_RANK, "report")

    def test_number_of_the_descriptor_taken_by_another_file(self):
        self.assert_one_job(2, CLOSE_ALL, "file", MPI_RANK, "report")

    def test_number_of_the_descriptor_taken_by_other_sealed_memory(self):
        self.assert_one_job(2, CLOSE_ALL, "memory", MPI_RANK, "report")

    def test_wrapper_that_opens_a_session(self):
        self.assert_one_job(2, *self.sh(f"exec 2>&1; setsid -w {CLOSE_ALL} none {MPI_RANK} report"))

    def test_terminal_recorder(self):
        if shutil.which("script") is None:
            self.skipTest("needs the program script")
        self.assert_one_job(2, "script", "-q", "-e", "-c", f"{CLOSE_ALL} none {MPI_RANK} report", "/dev/null")

    def test_some_ranks_only(self):
        self.assert_one_job(3, *self.sh(
            f"[ $FULMAR_RANK = 1 ] && exec {CLOSE_ALL} none {MPI_RANK} report; exec {MPI_RANK} report"))

    def test_two_hundred_ranks_at_once(self):
        result = self.run_job("-n", 200, CLOSE_ALL, "none", MPI_RANK, "report", timeout=100)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("of 200, sum 19900\n"), 200)

    def test_singleton_when_the_environment_is_cleared(self):
        result = self.run_job("-n", 2, "env", "-u", "FULMAR_JOB_FD", "-u", "FULMAR_JOB_SOCKET", MPI_RANK, "report")
        self.assertEqual(result.stdout, "0 of 1, sum 0\n" * 2)


class Refused(LauncherTest):
    """A rank that cannot join, or must not, says why."""

    def assert_fails(self, pattern, *command):
        result = self.run_job("-n", 1, *command)
        self.assertNotEqual(result.returncode, 0)
        self.assertRegex(result.stderr, pattern)

    def test_neither_descriptor_nor_socket(self):
        self.assert_fails("not open as the job's memory",
                          "env", "-u", "FULMAR_JOB_SOCKET", CLOSE_ALL, "none", MPI_RANK, "report")

    def test_name_that_mpiexec_does_not_give(self):
        self.assert_fails("no name that mpiexec gives",
                          "env", "FULMAR_JOB_SOCKET=abc", CLOSE_ALL, "none", MPI_RANK, "report")

    def test_nobody_listens(self):
        self.assert_fails("connect: Connection refused", "env", "FULMAR_JOB_SOCKET=fulmar-job-" + 32 * "0",
                          CLOSE_ALL, "none", MPI_RANK, "report")

    def listener(self, passed):
        """A rank that stands in for mpiexec under a name of its own and passes `passed`."""
        return (
            "import array, os, socket, subprocess, sys\n"
            f"name = 'fulmar-job-' + '{os.getpid():032x}'\n"
            "door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
            "door.bind('\\0' + name)\n"
            "door.listen()\n"
            "child = subprocess.Popen(sys.argv[1:], env={**os.environ, 'FULMAR_JOB_SOCKET': name})\n"
            "visitor, _ = door.accept()\n"
            "visitor.recv(64)\n"
            f"fds = array.array('i', [{passed}])\n"
            f"visitor.sendmsg([{struct.pack('=8sIIIi', b'FULMJOIN', 2, 1, 0, 0)!r}], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, fds)])\n"
            "sys.exit(child.wait())\n")

    def test_memory_that_could_shrink(self):
        self.assert_fails("no sealed memory file", sys.executable, "-c", self.listener("os.memfd_create('x')"),
                          MPI_RANK, "report")

    def test_listener_that_is_not_the_mpiexec_of_the_memory(self):
        self.assert_fails("but the job is that of mpiexec", sys.executable, "-c",
                          self.listener("int(os.environ['FULMAR_JOB_FD'])"), MPI_RANK, "report")

    def test_program_that_a_rank_inside_mpi_starts(self):
        self.assert_fails("rank 0 of the job is or was process [0-9]+, which has not called MPI_Finalize",
                          *self.sh(f"{FAKE_RANK} init; {MPI_RANK} report"))

    def test_place_used_and_no_socket_to_ask_for_another(self):
        self.assert_fails("rank 0 of the job is or was process",
                          *self.sh(f"{FAKE_RANK} finalize; unset FULMAR_JOB_SOCKET; {MPI_RANK} report"))


class Strangers(LauncherTest):
    """Connections that must not get anything, and must not disturb the job."""

    def start_waiting_job(self, ranks=1):
        process = self.start_job("-n", ranks, *self.sh("echo $FULMAR_JOB_SOCKET > name; read x < end"))
        os.mkfifo(self.folder / "end")
        return process, self.wait_for_files("name")[0]

    def end_job(self, process):
        """Lets the ranks end; gives what mpiexec has said."""
        (self.folder / "end").write_text("\n")
        _, said = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 0)
        return said.decode()

    def test_name_is_no_file_and_long(self):
        process, name = self.start_waiting_job()
        self.assertRegex(name, r"^fulmar-job-[0-9a-f]{32}$")
        self.assertEqual(self.end_job(process), "")

    def test_process_that_no_rank_started(self):
        process, name = self.start_waiting_job()
        with knock(name) as connection:
            self.assertEqual(answer(connection, HELLO), (b"", False))
        said = self.end_job(process)
        self.assertIn(f"{REFUSED_LINE} {os.getpid()} of user {os.getuid()} into the job: no rank has started it", said)

    def test_another_user(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        process, name = self.start_waiting_job()
        code = ("import socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);"
                f"s.settimeout(20); s.connect('\\0{name}'); print(s.recv(64))")
        result = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", "/usr/bin/python3", "-c", code],
                                capture_output=True, check=False, timeout=60)
        self.assertIn("user 65534 into the job: it is another user's", self.end_job(process), result.stderr)
        self.assertIn(result.stdout.strip(), (b"b''", b""))

    def test_another_user_that_a_rank_started(self):
        if os.geteuid() != 0:
            self.skipTest("needs root to become another user")
        result = self.run_job("-n", 1, "setpriv", "--reuid", "65534", "--clear-groups", *self.sh(
            'exec /usr/bin/python3 -c "import os, socket; s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET);'
            "s.connect(chr(0) + os.environ['FULMAR_JOB_SOCKET']); print(s.recv(64))\""))
        self.assertIn("it is another user's", result.stderr)

    def test_two_hundred_connections_at_once(self):
        start = time.monotonic()
        process, name = self.start_waiting_job()
        connections = [knock(name) for _ in range(200)]
        for connection in connections:
            self.assertEqual(answer(connection), (b"", False))
            connection.close()
        said = self.end_job(process)
        self.assertIn(said.count(REFUSED_LINE), range(1, int(time.monotonic() - start) + 2))

    def ask_as_rank(self, code, *others):
        """Runs Python code in a rank, with `name` and `knock`."""
        prelude = ("import os, socket, struct, subprocess, sys\n"
                   "def knock():\n"
                   "    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                   "    s.settimeout(20); s.connect('\\0' + os.environ['FULMAR_JOB_SOCKET']); return s\n")
        return self.run_job("-n", 1, sys.executable, "-c", prelude + code, *others)

    def test_garbage_gets_no_answer(self):
        out_of_range = struct.pack("=8sIIIi", b"FULMJOIN", 2, 0, 1, 0)
        for packet in ("b'x' * 24", "b''", "b'FULMJOIN'", f"{HELLO!r} + b'x'", f"{HELLO[:16]!r}", f"{out_of_range!r}",
                       "b'x' * 60000"):
            result = self.ask_as_rank(f"s = knock(); s.send({packet}); print(s.recv(64))")
            self.assertIn((result.stdout, result.returncode), (("b''\n", 0), ("", 1)), packet)
            self.assertNotIn("b'FULM", result.stdout)

    def test_other_version_is_told_ours(self):
        result = self.ask_as_rank("s = knock(); s.send(struct.pack('=8sII', b'FULMJOIN', 7, 0));"
                                  "print(struct.unpack('=8sII', s.recv(64)[:16]))")
        self.assertEqual(result.stdout, "(b'FULMJOIN', 2, 2)\n")

    def test_silent_connections_end_and_do_not_keep_ranks_out(self):
        """More silent ones than mpiexec has places: the rank behind them joins all the same."""
        code = ("silent = [knock() for _ in range(100)]\n"
                "print(subprocess.run(sys.argv[1:], close_fds=True).returncode, flush=True)\n"
                "print({s.recv(64) for s in silent})\n")
        result = self.ask_as_rank(code, MPI_RANK, "report")
        self.assertEqual((result.stdout, result.stderr), ("0 of 1, sum 0\n0\n{b''}\n", ""))

    def test_silent_connection_does_not_hold_up_the_end(self):
        result = self.ask_as_rank("s = knock(); os._exit(3)")
        self.assertEqual(result.returncode, 3)


class Behind(LauncherTest):
    """The end of an MPI process behind a wrapper that lives on."""

    def start(self, script):
        process = self.start_job("-n", 2, *self.sh(script))
        return process, [int(process.stdout.readline()) for _ in range(2)]

    def assert_ended(self, process, code, pattern):
        _, said = process.communicate(timeout=20)
        self.assertRegex(said.decode(), pattern)
        self.assertEqual(process.returncode, code)

    def test_killed_process_whose_wrapper_lives_on(self):
        process, pids = self.start(f"{MPI_RANK} sleep; sleep 1000")
        os.kill(pids[0], signal.SIGKILL)
        self.assert_ended(process, 1, rf"rank \d of 2 .* started process {pids[0]}, which ended without")
        wait_until(lambda: not alive(pids[1]), "end of the other rank")

    def test_killed_process_whose_wrapper_says_how(self):
        process, pids = self.start(f"{MPI_RANK} sleep; exit $?")
        os.kill(pids[0], signal.SIGKILL)
        self.assert_ended(process, 137, r"rank \d of 2 .* exited with code 137")

    def test_finalized_process_may_end_before_its_wrapper(self):
        result = self.run_job("-n", 2, *self.sh(f"{MPI_RANK} report && sleep 0.3"))
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
