# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
import os
import pty
import subprocess

from support import LauncherTest, wait_until


class Input(LauncherTest):
    def test_rank_zero_reads_and_others_find_the_end(self):
        result = self.run_job("-l", "-n", 3, "cat", stdin=b"a\nb\n")
        self.assertEqual(result.stdout, "[0] a\n[0] b\n")

    def test_chosen_rank_reads(self):
        self.assertEqual(self.run_job("-l", "--stdin", 2, "-n", 3, "cat", stdin=b"a\n").stdout, "[2] a\n")

    def test_all_ranks_read_copies(self):
        text = "".join(f"{i}\n" for i in range(20000))
        result = self.run_job("--stdin", "all", "-n", 3, *self.sh("cat > copy.$FULMAR_RANK"),
                              stdin=text.encode())
        self.assertEqual(result.returncode, 0)
        for rank in range(3):
            self.assertEqual((self.folder / f"copy.{rank}").read_text(), text)

    def test_all_ranks_read_a_file_and_one_stops_early(self):
        (self.folder / "data").write_text("x" * 300000)
        with open(self.folder / "data", "rb") as data:
            result = self.run_job("--stdin", "all", "-n", 2,
                                  *self.sh("[ $FULMAR_RANK = 0 ] && exec head -c 1; wc -c"),
                                  stdin_file=data)
        self.assertEqual(sorted(result.stdout.split()), ["300000", "x"])

    def test_nobody_reads_with_none(self):
        self.assertEqual(self.run_job("--stdin", "none", "-n", 2, "cat", stdin=b"a\n").stdout, "")

    def test_input_that_no_rank_reads_is_left_for_the_shell(self):
        result = subprocess.run(["sh", "-c", 'while read x; do "$MPIEXEC" -n 2 echo $x; done'],
                                input=b"1\n2\n3\n", env=self.environment(None), stdout=subprocess.PIPE,
                                check=True)
        self.assertEqual(result.stdout, b"1\n1\n2\n2\n3\n3\n")

    def test_terminal_in_the_foreground_is_read(self):
        pid, master = pty.fork()
        if pid == 0:
            os.execvpe(os.environ["MPIEXEC"], ["mpiexec", "-n", "2", "cat"], self.environment(None))
        try:
            os.write(master, b"hello\n\x04")
            got = b""
            while got.count(b"hello") < 2:  # the echo of the terminal, and cat
                got += os.read(master, 100)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), 0)
        finally:
            os.close(master)

    def test_interrupt_key_of_a_terminal_reaches_the_ranks(self):
        pid, master = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execvpe(os.environ["MPIEXEC"], ["mpiexec", "-n", "2", *self.sh(
                "trap 'echo > got.$FULMAR_RANK; exit 3' INT; echo > up.$FULMAR_RANK; "
                "while :; do sleep 0.05; done")], self.environment(None))
        try:
            self.wait_for_files("up.0", "up.1")
            os.write(master, b"\x03")
            self.wait_for_files("got.0", "got.1")
            status = {}
            def ended():
                done, code = os.waitpid(pid, os.WNOHANG)
                if done:
                    status["code"] = os.waitstatus_to_exitcode(code)
                return done != 0
            wait_until(ended, "end of mpiexec")
            self.assertEqual(status["code"], 3)
        finally:
            os.close(master)
