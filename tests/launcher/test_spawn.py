# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Jobs that ranks of a job start, through mpiexec and without MPI."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess

from spawn_support import SPAWNER, SpawnTest
from support import FAKE_RANK, MPIEXEC, LauncherTest, alive, children_of, wait_until


class Spawn(SpawnTest):
    def test_children_are_a_job_of_their_own(self):
        result, lines = self.spawn("port", "the port", "spawn", 3, *self.sh(
            "echo rank $FULMAR_RANK of $FULMAR_SIZE parent $FULMAR_PARENT_PORT"), ".", "ended")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("spawned: 0 0 0", lines)
        for rank in range(3):
            self.assertIn(f"rank {rank} of 3 parent the port", lines)
        self.assertEqual(lines[-1], "ended: the spawned processes have ended with exit code 0")

    def test_children_share_a_job_segment(self):
        result, lines = self.spawn("spawn", 2, FAKE_RANK, "init", "barrier", "finalize", ".", "ended")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(lines[0], "spawned: 0 0")

    def test_first_job_has_no_parent(self):
        self.assertEqual(self.spawn("parent")[1], ["parent: "])

    def test_outer_parent_is_hidden(self):
        self.assertEqual(self.spawn("parent", env={"FULMAR_PARENT_PORT": "x"})[1], ["parent: "])

    def test_several_commands_are_one_job(self):
        result, lines = self.spawn(
            "command", 1, *self.sh("echo first $FULMAR_RANK $FULMAR_APPNUM"), ".",
            "spawn", 2, *self.sh("echo second $FULMAR_RANK $FULMAR_APPNUM"), ".", "ended")
        self.assertEqual(result.returncode, 0)
        for line in ("spawned: 0 0 0", "first 0 0", "second 1 1", "second 2 1"):
            self.assertIn(line, lines)

    def test_arguments_arrive_unchanged(self):
        result = self.run_job("-n", 1, *self.sh(r"""exec "$SPAWNER" spawn 1 printf '<%s>\n' : '' 'a b' -n -- . ended"""))
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual([line for line in result.stdout.splitlines() if line.startswith("<")],
                         ["<:>", "<>", "<a b>", "<-n>", "<-->"])

    def test_spawned_jobs_spawn_five_deep(self):
        script = ('n=${LEFT:-5}; [ "$n" = 0 ] || LEFT=$((n - 1)) '
                  '"$SPAWNER" parent port level-$n info env "LEFT=$((n - 1))" spawn 1 sh -c "$SCRIPT" . ended')
        result = self.run_job("-n", 1, "sh", "-c", script, env={"SCRIPT": script})
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sorted(line for line in result.stdout.splitlines() if line.startswith("parent")),
                         ["parent: ", *(f"parent: level-{n}" for n in range(2, 6))])
        self.assertEqual(result.stdout.count("ended with exit code 0"), 5)

    def test_many_at_once_from_many_ranks(self):
        result = self.run_job("-n", 8, SPAWNER, *(["spawn", 1, "true", "."] * 8), timeout=100)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("spawned: 0\n"), 64)

    def test_one_spawn_of_64(self):
        result, lines = self.spawn("spawn", 64, FAKE_RANK, "init", "barrier", "finalize", ".", "ended")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(lines[0], "spawned:" + " 0" * 64)

    def test_mpiexec_waits_for_spawned_jobs(self):
        result, _ = self.spawn("spawn", 1, *self.sh("until [ -e over ]; do sleep 0.01; done; echo late"), ".",
                               "spawn", 1, *self.sh("echo > over"), ".")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("late\n", result.stdout)

    def test_a_hundred_jobs_leave_nothing_in_mpiexec(self):
        job = self.start_job("-n", 1, *self.sh('echo $PPID > mpiexec; exec "$SPAWNER" ' + "spawn 2 true . ended " * 110 +
                                               "pause"))
        (mpiexec,) = map(int, self.wait_for_files("mpiexec"))
        counts = []
        for _ in range(110):
            self.assertEqual(job.stdout.readline(), b"spawned: 0 0\n")
            self.assertIn(b"exit code 0", job.stdout.readline())
            counts.append((len(os.listdir(f"/proc/{mpiexec}/fd")), len(children_of(mpiexec))))
        self.assertEqual(job.stdout.readline(), b"paused\n")
        wait_until(lambda: len(os.listdir(f"/proc/{mpiexec}/fd")) <= min(counts)[0], "descriptors as at the start")
        self.assertLessEqual(max(count[1] for count in counts), 5)  # the rank, the guard, jobs that are ending
        job.send_signal(signal.SIGTERM)
        job.communicate()

    def test_memory_of_the_first_job_is_not_kept(self):
        job = self.start_job("-n", 1, *self.sh(
            f'"{SPAWNER}" spawn 1 sh -c "echo \\$\\$ > child; sleep 1000" . ; echo $PPID > mpiexec; sleep 1000'))
        mpiexec, child = map(int, self.wait_for_files("mpiexec", "child"))
        runner = int(pathlib.Path(f"/proc/{child}/stat").read_text().rsplit(")", 1)[1].split()[1])
        self.assertIn(runner, children_of(mpiexec))

        def memory(pid):
            return set(re.findall(r"\S+ (\d+)\s+/memfd:fulmar-job",
                                  pathlib.Path(f"/proc/{pid}/maps").read_text()))
        self.assertEqual(len(memory(mpiexec)), 1)
        self.assertEqual(len(memory(runner)), 1)
        self.assertFalse(memory(mpiexec) & memory(runner))
        job.send_signal(signal.SIGTERM)
        job.wait()
        self.assert_gone(child, runner)


class Info(SpawnTest):
    def test_wdir_path_and_env(self):
        (self.folder / "there").mkdir()
        tool = self.folder / "there" / "tool"
        tool.write_text("#!/bin/sh\npwd\necho $A-$B\n")
        tool.chmod(0o755)
        result, lines = self.spawn("info", "wdir", "there", "info", "path", self.folder / "there",
                                   "info", "env", "A=1 2\nB=x=y", "spawn", 1, "tool", ".", "ended")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(str((self.folder / "there").resolve()), lines)
        self.assertIn("1 2-x=y", lines)

    def test_children_start_where_the_parent_is(self):
        (self.folder / "there").mkdir()
        result = self.run_job("-wdir", "there", "-n", 1, SPAWNER, "spawn", 1, "pwd", ".", "ended")
        self.assertIn(str((self.folder / "there").resolve()) + "\n", result.stdout)

    def test_file_holds_further_keys(self):
        (self.folder / "keys").write_text("# a comment\n\nenv = A=7\n wdir = /\n")
        result, lines = self.spawn("info", "file", "keys", "spawn", 1, *self.sh("echo $A $PWD"), ".", "ended")
        self.assertEqual(result.returncode, 0)
        self.assertIn("7 /", lines)

    def test_soft_starts_what_it_allows(self):
        for soft, wanted, codes in (("1,3", 4, "0 0 0 53"), ("2:8:3", 4, "0 0 53 53"), ("5:1:-2", 4, "0 0 0 53"),
                                    ("4", 4, "0 0 0 0")):
            _, lines = self.spawn("info", "soft", soft, "spawn", wanted, "true", ".", "ended")
            self.assertEqual(lines[0], f"spawned: {codes}")

    def test_this_host_is_accepted(self):
        (self.folder / "hosts").write_text(f"{socket.gethostname()}\n")
        for key, value in (("host", "localhost"), ("add-host", "localhost:4"), ("hostfile", "hosts"),
                           ("add_hostfile", "hosts"), ("arch", os.uname().machine), ("bind_to", "core"),
                           ("unknown", "whatever")):
            _, lines = self.spawn("info", key, value, "spawn", 1, "true", ".", "ended")
            self.assertEqual(lines[0], "spawned: 0", (key, value))

    def test_initial_errhandler(self):
        _, lines = self.spawn("info", "mpi_initial_errhandler", "mpi_errors_return",
                              "spawn", 1, *self.sh("echo $FULMAR_ERRHANDLER"), ".", "ended")
        self.assertIn("mpi_errors_return", lines)

    def test_what_cannot_be_is_refused(self):
        for key, value, text in (
                ("host", "elsewhere.invalid", "prterun or Hydra"), ("hostfile", "none", "none"),
                ("wdir", "none", "none"), ("arch", "pdp11", "pdp11"), ("soft", "9", "maxprocs"),
                ("soft", "1:2:0", "expected numbers and ranges"), ("soft", "x", "expected numbers and ranges"),
                ("env", "A", "NAME=VALUE"), ("file", "none", "cannot be read"), ("bind-to", "moon", "moon"),
                ("mpi_initial_errhandler", "x", "mpi_errors_return")):
            self.assertIn(text, self.refused("info", key, value, "spawn", 2, "true", "."), (key, value))

    def test_programs_that_are_not_there(self):
        self.assertIn("no_such_program", self.refused("spawn", 2, "no_such_program", "."))
        (self.folder / "text").write_text("no program")
        self.assertIn("text", self.refused("spawn", 1, "./text", "."))
        self.assertIn("no_such_program", self.refused("command", 1, "true", ".", "spawn", 1, "no_such_program", "."))
        self.assertIn("-n", self.refused("spawn", 0, "true", "."))
        self.assertIn("at most 65536", self.refused("spawn", 70000, "true", "."))

    def test_universe_size(self):
        cores = len(os.sched_getaffinity(0))
        show = self.sh("echo u $FULMAR_UNIVERSE_SIZE")
        for options, expected in (((), max(cores, 1)), (("-usize", 17), 17), (("-usize", "SYSTEM"), cores),
                                  (("-usize", "INFINITE"), 1 << 30)):
            result, lines = self.spawn("spawn", 1, *show, ".", "ended", options=options)
            self.assertIn(f"u {expected}", lines, result)
        self.assertEqual(self.run_job("-usize", "many", "-n", 1, "true").returncode, 2)


class Terms(SpawnTest):
    """Spawned ranks are treated as the first ones are."""

    def test_labels_name_the_job(self):
        _, lines = self.spawn("spawn", 2, "echo", "hello", ".", "ended", options=("-l",))
        self.assertIn("[1:0] hello", lines)
        self.assertIn("[1:1] hello", lines)

    def test_output_files_do_not_overwrite_those_of_the_first_job(self):
        self.spawn("spawn", 1, "echo", "hello", ".", "ended", options=("-outfile-pattern", "out.%r"))
        self.assertIn("spawned: 0\n", (self.folder / "out.0").read_text())
        self.assertEqual((self.folder / "out.0.1").read_text(), "hello\n")

    def test_stdin_is_nobodys(self):
        result, lines = self.spawn("spawn", 1, *self.sh("read x || echo none"), ".", "ended", stdin=b"text\n")
        self.assertIn("none", lines)

    def test_exit_code_counts_and_is_reported(self):
        result, _ = self.spawn("spawn", 2, *self.sh("exit $((FULMAR_RANK * 7))"), ".", "ended", "pause")
        self.assertEqual(result.returncode, 7)
        self.assertRegex(result.stderr, r"mpiexec: spawned job 1: rank 1 of 2 \(sh, pid \d+\) exited with code 7")
        self.assertIn("mpiexec: spawned job 1 has failed with exit code 7; ending the others", result.stderr)

    def test_abort_of_a_spawned_job(self):
        result, _ = self.spawn("spawn", 2, FAKE_RANK, "init", "barrier", "only", 1, "abort", 9, "all", "wait", ".",
                               "pause")
        self.assertEqual(result.returncode, 9)
        self.assertIn("spawned job 1: rank 1 of 2", result.stderr)

    def test_continue_lets_others_go_on(self):
        result, lines = self.spawn("spawn", 1, *self.sh("kill -9 $$"), ".", "ended",
                                   "spawn", 1, "echo", "after", ".", "ended",
                                   options=("--on-failure=continue",))
        self.assertEqual(result.returncode, 137)
        self.assertIn("after", lines)
        self.assertIn("ended: the spawned processes have ended with exit code 137", lines)

    def test_failure_of_the_first_job_ends_spawned_ones(self):
        result, _ = self.spawn("spawn", 1, "sleep", 1000, ".", "exit", 5, timeout=20)
        self.assertEqual(result.returncode, 5)

    def test_time_limit_ends_all(self):
        result, _ = self.spawn("spawn", 1, "sleep", 1000, ".", options=("--timeout", 1), timeout=20)
        self.assertEqual(result.returncode, 124)

    def test_signals_reach_spawned_ranks(self):
        child = "trap 'echo > got; exit 0' USR1; echo > up; while :; do sleep 0.01; done"
        job = self.start_job("-n", 1, *self.sh('trap "" USR1; exec "$SPAWNER" spawn 1 sh -c "$CHILD" . ended'),
                             env={"CHILD": child})
        self.wait_for_files("up")
        job.send_signal(signal.SIGUSR1)
        self.wait_for_files("got")
        self.assertEqual(job.wait(timeout=20), 0)

    def test_interrupt_ends_all_and_leaves_nothing(self):
        job = self.start_job("-n", 1, SPAWNER, "spawn", 2, *self.sh("echo $$ > child$FULMAR_RANK; sleep 1000"), ".",
                             "pause")
        children = map(int, self.wait_for_files("child0", "child1"))
        job.send_signal(signal.SIGINT)
        self.assertNotEqual(job.wait(timeout=20), 0)
        self.assert_gone(*children)
        self.assertEqual(job.stderr.read().count(b"passed SIGINT"), 1)

    def test_sigkill_of_mpiexec_leaves_nothing(self):
        job = self.start_job("-n", 1, SPAWNER, "spawn", 2, *self.sh(
            "sleep 1000 & echo $! > inner$FULMAR_RANK; echo $$ > child$FULMAR_RANK; wait"), ".", "pause")
        pids = [int(text) for text in self.wait_for_files("child0", "child1", "inner0", "inner1")]
        job.kill()
        job.wait()
        self.assert_gone(*pids)


class Strangers(SpawnTest):
    def address(self):
        job = self.start_job("-n", 1, *self.sh("echo $FULMAR_LAUNCH_SOCKET > address; until [ -e over ]; do "
                                               "sleep 0.01; done"))
        (text,) = self.wait_for_files("address")
        return job, text.split(":")

    def connect(self, name):
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.addCleanup(peer.close)
        peer.settimeout(20)
        peer.connect("\0" + name)
        return peer

    def frame(self, kind, body, version=2):
        return b"FULS" + b"".join(n.to_bytes(4, "big") for n in (version, kind, 1, len(body))) + body

    def assert_closed(self, peer):
        try:
            self.assertEqual(peer.recv(100), b"")
        except ConnectionResetError:
            pass

    def test_what_is_no_hello_or_has_no_secret_is_closed(self):
        job, (name, secret) = self.address()
        good = self.frame(1, bytes.fromhex(secret) + bytes(8))
        wrong = bytes(16)
        for sent in (b"GET / HTTP/1.1\r\n\r\n", self.frame(1, wrong + bytes(8)), self.frame(3, bytes(8)),
                     self.frame(1, bytes.fromhex(secret) + bytes(8), version=1), self.frame(1, bytes(1000)),
                     good + b"nonsense", good + self.frame(2, b"nonsense")[:-1] + b"\xff" * 300, good + self.frame(77, b"")):
            peer = self.connect(name)
            peer.sendall(sent)
            peer.shutdown(socket.SHUT_WR)
            data = b""
            while piece := peer.recv(1000):
                data += piece
            self.assertNotIn(b"spawned", data)
        peer = self.connect(name)
        peer.sendall(good + self.frame(4, b"\0\0\0\1a\0\0\0\0"))
        self.assertEqual(peer.recv(4), b"FULS")
        (self.folder / "over").write_text("")
        self.assertEqual(job.wait(timeout=20), 0)

    def test_silent_ones_are_closed_and_hold_up_nobody(self):
        job, (name, secret) = self.address()
        silent = [self.connect(name) for _ in range(200)]
        peer = self.connect(name)
        peer.sendall(self.frame(1, bytes.fromhex(secret) + bytes(8)) + self.frame(4, b"\0\0\0\1a\0\0\0\0"))
        self.assertEqual(peer.recv(4), b"FULS")
        for one in silent:
            self.assert_closed(one)
        (self.folder / "over").write_text("")
        self.assertEqual(job.wait(timeout=20), 0)


class Singleton(LauncherTest):
    """A process that no launcher started, and the mpiexec that it starts."""

    def run_alone(self, *words, **more):
        more.setdefault("timeout", 60)
        env = {**self.environment(None), "PATH": str(pathlib.Path(MPIEXEC).parent) + ":" + os.environ["PATH"],
               **more.pop("env", {})}
        return subprocess.run([SPAWNER, *map(str, words)], cwd=self.folder, env=env, check=False, text=True,
                              capture_output=True, **more)

    def test_it_spawns(self):
        result = self.run_alone("port", "p", "spawn", 2, *self.sh("echo $FULMAR_RANK of $FULMAR_SIZE $FULMAR_PARENT_PORT"),
                                ".", "ended", "bye")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        lines = result.stdout.splitlines()
        self.assertIn("spawned: 0 0", lines)
        self.assertIn("0 of 2 p", lines)
        self.assertIn("1 of 2 p", lines)

    def test_it_publishes(self):
        result = self.run_alone("publish", "a", "b", "lookup", "a", "unpublish", "a", "b", "lookup", "a", "bye")
        self.assertEqual(result.stdout.splitlines()[:3], ["publish: done", "lookup: b", "unpublish: done"])
        self.assertIn("MPI_ERR_NAME", result.stdout)

    def test_children_go_on_after_a_proper_end(self):
        waits = self.sh("until [ -e over ]; do sleep 0.01; done; echo late > late")
        self.assertEqual(self.run_quietly("spawn", 1, *waits, ".", "bye"), 0)
        (self.folder / "over").write_text("")
        self.wait_for_files("late")

    def test_children_end_with_one_that_dies(self):
        env = {**self.environment(None), "PATH": str(pathlib.Path(MPIEXEC).parent) + ":" + os.environ["PATH"]}
        words = ["spawn", "1", *self.sh("echo $$ > child; exec sleep 1000"), ".", "pause"]
        process = subprocess.Popen([SPAWNER, *words], cwd=self.folder, env=env, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.running.append(process)
        (child,) = self.wait_for_files("child")
        process.kill()
        self.assert_gone(int(child))

    def run_quietly(self, *words):
        """Without pipes, which the children would hold open."""
        env = {**self.environment(None), "PATH": str(pathlib.Path(MPIEXEC).parent) + ":" + os.environ["PATH"]}
        return subprocess.run([SPAWNER, *map(str, words)], cwd=self.folder, env=env, check=False, timeout=60,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode

    def test_server_ends_with_its_process(self):
        process = subprocess.Popen([SPAWNER, "publish", "a", "b", "pause"], cwd=self.folder, text=True,
                                   env={**self.environment(None), "PATH": str(pathlib.Path(MPIEXEC).parent)},
                                   stdout=subprocess.PIPE)
        self.running.append(process)
        self.assertEqual(process.stdout.readline(), "publish: done\n")
        servers = [int(pid) for pid in os.listdir("/proc") if pid.isdigit() and self.is_own_server(pid)]
        self.assertEqual(len(servers), 1)
        self.assertEqual(children_of(process.pid), {})
        process.kill()
        for server in servers:
            wait_until(lambda: not alive(server), f"end of the server {server}")

    def is_own_server(self, pid):
        try:
            line = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes()
            return b"--spawn-server" in line and os.readlink(f"/proc/{pid}/cwd") == str(self.folder.resolve())
        except OSError:
            return False

    def run_elsewhere(self, path, *words, place="."):
        """A copy of the program, which lies beside no mpiexec."""
        (self.folder / place).mkdir(parents=True, exist_ok=True)
        copy = shutil.copy(SPAWNER, self.folder / place)
        return subprocess.run([copy, *words], cwd=self.folder, env={**self.environment(None), "PATH": path},
                              check=False, text=True, capture_output=True, timeout=60).stdout

    def test_without_an_mpiexec_it_says_so(self):
        self.assertIn("spawn: MPI_ERR_SPAWN: this process was started without a launcher, and there is no mpiexec",
                      self.run_elsewhere("/nowhere", "spawn", "1", "true", "."))

    def test_only_an_mpiexec_beside_libraries_is_taken_without_being_told(self):
        (self.folder / "bin").mkdir()
        fake = self.folder / "bin" / "mpiexec"
        fake.write_text("#!/bin/sh\nexit 1\n")
        fake.chmod(0o755)
        for place in "here", "here/there":
            self.assertIn("there is no mpiexec", self.run_elsewhere("/nowhere", "spawn", "1", "true", ".", place=place))
        for place in "lib", "lib/triplet":
            self.assertIn("MPI_ERR_SPAWN: the mpiexec that serves this process",
                          self.run_elsewhere("/nowhere", "spawn", "1", "true", ".", place=place))

    def test_mpiexec_is_found_in_path(self):
        folder = pathlib.Path(MPIEXEC).parent
        self.assertEqual(self.run_elsewhere(f"/nowhere:{folder}:/bin", "publish", "a", "b"), "publish: done\n")

    def test_foreign_mpiexec_in_path_is_noticed(self):
        fake = self.folder / "mpiexec"
        fake.write_text("#!/bin/sh\nexit 1\n")
        fake.chmod(0o755)
        self.assertIn("publish: MPI_ERR_SERVICE: the mpiexec that serves this process",
                      self.run_elsewhere("/bin", "publish", "a", "b"))
