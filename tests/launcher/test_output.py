# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
import os
import pathlib
import platform
import pty
import re
import select
import socket
import subprocess
import time

from support import LauncherTest, alive, children_of, wait_until

WRITER = """
import os, sys
rank = int(os.environ["FULMAR_RANK"])
line = (chr(97 + rank) * 99 + "\\n").encode()
for _ in range(%d):
    os.write(1, line[:40]); os.write(1, line[40:])
"""
# A full pipe ends in half a line: each of its pages does.
LONG_WRITER = WRITER.replace("99", "999").replace("40", "10")


class Output(LauncherTest):
    def test_lines_of_ranks_do_not_mix(self):
        result = self.run_job("-n", 4, "python3", "-c", WRITER % 500)
        lines = result.stdout.splitlines()
        self.assertEqual(len(lines), 2000)
        for line in lines:
            self.assertEqual(line, line[0] * 99)

    def test_labels_begin_each_line(self):
        for option in ("-l", "--label", "--tag-output", "-prepend-rank"):
            result = self.run_job(option, "-n", 2, *self.sh('printf "x\\ny\\n"; echo e >&2'))
            self.assertEqual(sorted(result.stdout.splitlines()), ["[0] x", "[0] y", "[1] x", "[1] y"])
            self.assertEqual(sorted(result.stderr.splitlines()), ["[0] e", "[1] e"])

    def test_stdout_and_stderr_stay_apart(self):
        result = self.run_job("-n", 2, *self.sh("echo out; echo err >&2"))
        self.assertEqual((result.stdout, result.stderr), ("out\nout\n", "err\nerr\n"))

    def test_same_destination_keeps_the_order_of_a_rank(self):
        result = self.run_job("-n", 2, *self.sh("for i in 1 2 3; do echo $FULMAR_RANK o$i; "
                                                "echo $FULMAR_RANK e$i >&2; done"),
                              stderr=subprocess.STDOUT)
        for rank in "01":
            mine = [line.split()[1] for line in result.stdout.splitlines() if line[0] == rank]
            self.assertEqual(mine, ["o1", "e1", "o2", "e2", "o3", "e3"])

    def test_last_line_without_newline_is_kept(self):
        self.assertEqual(self.run_job("-n", 1, "printf", "abc").stdout, "abc")
        result = self.run_job("-n", 2, "printf", "abc")
        self.assertEqual(result.stdout, "abc\nabc")

    def test_prompt_appears_while_the_rank_waits(self):
        process = self.start_job("-n", 2, *self.sh('[ $FULMAR_RANK = 1 ] || printf "name? "; cat >/dev/null; '
                                                   '[ -e stop ] || sleep 60'))
        got = b""
        end = time.monotonic() + 20
        while b"name? " not in got and time.monotonic() < end:
            if select.select([process.stdout], [], [], 1)[0]:
                got += os.read(process.stdout.fileno(), 100)
        self.assertEqual(got, b"name? ")
        process.terminate()

    def test_long_line_without_newline_arrives_whole(self):
        result = self.run_job("-n", 2, "python3", "-c",
                              "import os; print(os.environ['FULMAR_RANK'] * 3000000)")
        self.assertEqual([len(line) for line in result.stdout.splitlines()], [3000000] * 2)
        self.assertEqual(sorted(line[:1] for line in result.stdout.splitlines()), ["0", "1"])
        for line in result.stdout.splitlines():
            self.assertEqual(set(line), {line[0]})

    def test_large_output_flows(self):
        """50 MB from each of two ranks, through a reader that is slower than they are."""
        program = "import sys\nfor i in range(50): sys.stdout.write('x' * 99 + '\\n'); " \
                  "sys.stdout.write(('y' * 99 + '\\n') * 9999)"
        process = self.start_job("-n", 2, "python3", "-c", program)
        total, lines, peak = 0, 0, 0
        while chunk := process.stdout.read(1 << 20):
            total += len(chunk)
            lines += chunk.count(b"\n")
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            if "VmHWM" in status:
                peak = max(peak, int(status.split("VmHWM:")[1].split()[0]))
        self.assertEqual((process.wait(), total, lines), (0, 10**8, 10**6))
        self.assertLess(peak, 64 << 10, "KiB of memory of mpiexec")

    def test_slow_reader_holds_ranks_back_and_mpiexec_still_answers(self):
        process = self.start_job("-n", 2, "yes")
        time_limit = time.monotonic() + 20
        # Both ranks fill their pipes and then sleep in write().
        def blocked():
            writers = [pid for pid, name in children_of(process.pid).items() if name == "yes"]
            return len(writers) == 2 and all(
                "pipe" in pathlib.Path(f"/proc/{pid}/wchan").read_text() for pid in writers)
        wait_until(blocked, "ranks that wait for their reader", time_limit - time.monotonic())
        process.terminate()
        wait_until(lambda: process.poll() is not None, "end after SIGTERM")
        self.assertEqual(process.returncode, 143)

    def test_reader_that_pauses_gets_whole_lines(self):
        process = self.start_job("-n", 4, "python3", "-c", LONG_WRITER % 2000, pipesize=1 << 20)
        def blocked():
            writers = [pid for pid, name in children_of(process.pid).items() if "python" in name]
            return len(writers) == 4 and all(
                not alive(pid) or "pipe" in pathlib.Path(f"/proc/{pid}/wchan").read_text() for pid in writers)
        out = b""
        for read_before in (0, 2 << 20, 4 << 20):
            while len(out) < read_before:
                out += os.read(process.stdout.fileno(), 1 << 20)
            wait_until(blocked, "ranks that wait for their reader")
            time.sleep(0.7)  # longer than the half second for which the begin of a line waits for its end
        rest, said = process.communicate(timeout=60)
        lines = (out + rest).decode().splitlines()
        self.assertEqual((process.returncode, said), (0, b""))
        self.assertEqual(sorted(set(lines)), [letter * 999 for letter in "abcd"])
        self.assertEqual(len(lines), 8000)

    def test_reader_that_leaves_ends_the_writers(self):
        process = self.start_job("-n", 2, "yes")
        self.assertEqual(process.stdout.readline(), b"y\n")
        process.stdout.close()
        process.stdout = None
        wait_until(lambda: process.poll() is not None, "end after the reader left")
        self.assertEqual(process.returncode, 141)

    def test_full_device_is_an_error(self):
        with open("/dev/full", "wb") as full:
            result = self.run_job("-n", 2, "echo", "x", stdout=full)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("No space left", result.stderr)

    def test_terminal_as_output(self):
        master, slave = pty.openpty()
        try:
            process = self.start_job("-n", 2, "echo", "line", stdout=slave, stderr=slave)
            os.close(slave)
            got = b""
            while got.count(b"line") < 2:
                self.assertTrue(select.select([master], [], [], 20)[0], got)
                got += os.read(master, 100)
            self.assertEqual(process.wait(), 0)
        finally:
            os.close(master)

    def test_socket_as_output(self):
        ours, theirs = socket.socketpair()
        with ours, theirs:
            process = self.start_job("-n", 2, "seq", 20000, stdout=theirs)
            theirs.close()
            got = b""
            while chunk := ours.recv(1 << 16):
                got += chunk
            self.assertEqual((process.wait(), got.count(b"\n")), (0, 40000))

    def test_interrupt_ends_the_wait_for_a_stalled_reader(self):
        process = self.start_job("-n", 2, *self.sh("seq 20000; echo > done.$FULMAR_RANK"))
        self.wait_for_files("done.0", "done.1")
        wait_until(lambda: not children_of(process.pid), "end of ranks and guard")
        process.terminate()
        wait_until(lambda: process.poll() is not None, "end of mpiexec")
        self.assertEqual(process.returncode, 143)

    def test_terminal_flags_are_left_alone(self):
        read_end, write_end = os.pipe()
        try:
            self.run_job("-n", 2, "true", stdout=write_end)
            self.assertTrue(os.get_blocking(write_end))
        finally:
            os.close(read_end)
            os.close(write_end)

    def test_closed_descriptors_are_no_trouble(self):
        def close_all():
            for fd in (0, 1, 2):
                os.close(fd)
        result = self.run_job("-n", 2, *self.sh("echo x; cat; echo done > done.$FULMAR_RANK"),
                              stdin_file=None, preexec_fn=close_all)
        self.assertEqual(result.returncode, 0)
        self.wait_for_files("done.0", "done.1")


class Files(LauncherTest):
    """Output of ranks that goes to files, or is changed on its way."""

    SCRIPT = "echo out $FULMAR_RANK; echo err $FULMAR_RANK >&2"

    def read(self, name):
        return (self.folder / name).read_text()

    def test_folder_with_files_of_each_rank(self):
        for options, copied in ((("--output", "dir=d"), True), (("--output-filename", "d:nocopy"), False)):
            with self.subTest(options=options):
                result = self.run_job(*options, "-n", 11, *self.sh(self.SCRIPT))
                self.assertEqual(result.returncode, 0, result.stderr)
                self.assertEqual((result.stdout.count("out "), result.stderr.count("err ")), (11, 11) if copied else (0, 0))
                for rank in range(11):
                    self.assertEqual(self.read(f"d/1/rank.{rank:02}/stdout"), f"out {rank}\n")
                    self.assertEqual(self.read(f"d/1/rank.{rank:02}/stderr"), f"err {rank}\n")

    def test_file_of_each_rank_with_both_streams(self):
        self.run_job("--output", "filename=x%r,nocopy", "-n", 2, *self.sh(self.SCRIPT))
        for rank in range(2):
            self.assertEqual(sorted(self.read(f"x%r.{rank}").splitlines()), [f"err {rank}", f"out {rank}"])

    def test_patterns(self):
        result = self.run_job("-outfile-pattern", "o.%r.%h", "-errfile-pattern", "e", "-n", 3, *self.sh(self.SCRIPT))
        self.assertEqual((result.stdout, result.stderr), ("", ""))
        for rank in range(3):
            self.assertEqual(self.read(f"o.{rank}.{platform.node()}"), f"out {rank}\n")
        self.assertEqual(sorted(self.read("e").splitlines()), ["err 0", "err 1", "err 2"])

    def test_one_file_of_all_gets_whole_lines(self):
        script = "i=0; while [ $i -lt 300 ]; do printf 'a %s ' $FULMAR_RANK; echo b $i; i=$((i + 1)); done; echo c >&2"
        result = self.run_job("-outfile-pattern", "all", "-errfile-pattern", "all", "-n", 3, *self.sh(script))
        self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "", ""))
        lines = self.read("all").splitlines()
        self.assertEqual(len(lines), 903)
        self.assertEqual({line for line in lines if not re.fullmatch(r"a \d b \d+|c", line)}, set())

    def test_messages_of_mpiexec_stay_on_the_terminal(self):
        result = self.run_job("-errfile-pattern", "e", "-n", 2, *self.sh("echo err >&2; exit 3"))
        self.assertRegex(result.stderr, "mpiexec: rank . of 2 .* exited with code 3")
        self.assertNotIn("mpiexec", self.read("e"))

    def test_job_of_one_rank(self):
        self.run_job("-outfile-pattern", "o", "-n", 1, "printf", "no newline")
        self.assertEqual(self.read("o"), "no newline")

    def test_files_are_emptied_at_the_start(self):
        (self.folder / "o").write_text("old\n")
        self.run_job("-outfile-pattern", "o", "-n", 1, "echo", "new")
        self.assertEqual(self.read("o"), "new\n")

    def test_folder_where_a_file_should_be(self):
        (self.folder / "o").mkdir()
        result = self.run_job("-outfile-pattern", "o", "-n", 2, *self.sh("echo > ran"))
        self.assertEqual(result.returncode, 1)
        self.assertIn('cannot write the output file "o": Is a directory', result.stderr)
        self.assertFalse((self.folder / "ran").exists())

    def test_full_disk_is_an_error_of_the_job(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("needs /dev/full")
        result = self.run_job("-outfile-pattern", "/dev/full", "-n", 2, "echo", "x")
        self.assertEqual(result.returncode, 1)
        self.assertIn('cannot write "/dev/full": No space left on device', result.stderr)

    def test_ranks_that_write_to_a_full_disk_are_not_to_blame(self):
        """They get SIGPIPE; the exit code is that of what could not be written."""
        if not os.path.exists("/dev/full"):
            self.skipTest("needs /dev/full")
        result = self.run_job("-outfile-pattern", "/dev/full", "-n", 2, "yes")
        self.assertEqual(result.returncode, 1)
        self.assertIn('cannot write "/dev/full": No space left on device', result.stderr)

    def test_merged_streams(self):
        for ranks in (1, 2):
            result = self.run_job("--merge-stderr-to-stdout", "-n", ranks, *self.sh(self.SCRIPT))
            self.assertEqual(result.stderr, "")
            self.assertEqual(sorted(result.stdout.splitlines()),
                             sorted(f"{what} {rank}" for what in ("out", "err") for rank in range(ranks)))

    def test_times_and_labels(self):
        result = self.run_job("--output", "tag,timestamp", "-n", 2, *self.sh("echo a; echo b"))
        stamp = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3} "
        for line in result.stdout.splitlines():
            self.assertRegex(line, rf"^{stamp}\[[01]\] [ab]$")
        self.assertEqual(len(result.stdout.splitlines()), 4)
        result = self.run_job("-prepend-pattern", "%r of %h: ", "-n", 1, "echo", "x")
        self.assertEqual(result.stdout, f"0 of {platform.node()}: x\n")
