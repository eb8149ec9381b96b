# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
import os
import pathlib
import platform
import re
import stat
import subprocess
import unittest

from support import MPIEXEC, LauncherTest

TREE = pathlib.Path(__file__).resolve().parents[2]


class CommandLine(LauncherTest):
    def test_starts_the_asked_number_of_ranks(self):
        for option in ("-n", "-np", "--np"):
            result = self.run_job(option, 3, *self.sh("echo $FULMAR_RANK"))
            self.assertEqual(sorted(result.stdout.split()), ["0", "1", "2"])
            self.assertEqual(result.returncode, 0)

    def test_mpirun_is_mpiexec(self):
        mpirun = os.path.join(os.path.dirname(MPIEXEC), "mpirun")
        self.assertTrue(os.path.samefile(mpirun, MPIEXEC))
        out = subprocess.run([mpirun, "-np", "2", "sh", "-c", "echo $FULMAR_SIZE"], stdin=subprocess.DEVNULL,
                             capture_output=True, check=True, timeout=60).stdout
        self.assertEqual(out, b"2\n2\n")

    def test_several_programs_share_one_job(self):
        result = self.run_job("-n", 2, *self.sh("echo a $FULMAR_RANK $FULMAR_SIZE $FULMAR_APPNUM"),
                              ":", "-n", 1, *self.sh("echo b $FULMAR_RANK $FULMAR_SIZE $FULMAR_APPNUM"))
        self.assertEqual(sorted(result.stdout.splitlines()), ["a 0 3 0", "a 1 3 0", "b 2 3 1"])

    def test_unknown_program_is_127_and_named(self):
        result = self.run_job("-n", 2, "no-such-program")
        self.assertEqual(result.returncode, 127)
        self.assertIn('"no-such-program"', result.stderr)

    def test_unknown_second_program_starts_nothing(self):
        result = self.run_job("-n", 1, "touch", "started", ":", "-n", 1, "./nothing")
        self.assertEqual(result.returncode, 127)
        self.assertFalse((self.folder / "started").exists())

    def test_file_that_cannot_run_is_126(self):
        (self.folder / "text").write_text("text\n")
        result = self.run_job("./text")
        self.assertEqual(result.returncode, 126)
        self.assertIn("not executable", result.stderr)

    def test_missing_interpreter_is_named_as_the_reason(self):
        script = self.folder / "script"
        script.write_text("#!/no/such/interpreter\n")
        script.chmod(0o755)
        result = self.run_job("-n", 2, "./script")
        self.assertEqual(result.returncode, 127)
        self.assertIn("interpreter", result.stderr)

    def test_file_that_is_neither_program_nor_script_is_126_and_described(self):
        header = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + bytes([2, 0, 0xAD, 0xDE])
        bad = {"alien": (header + b"\necho ran\n", "an ELF file for machine number 57005"),
               "short": (b"\x7fELF\necho ran\n", "the beginning of an ELF file"),
               "data": (b"a\0b\necho ran\n", "binary data"),
               "script": (b"#!./alien\necho ran\n", "names an interpreter")}
        for name, (content, what) in bad.items():
            with self.subTest(file=name):
                file = self.folder / name
                file.write_bytes(content)
                file.chmod(0o755)
                result = self.run_job("-n", 2, f"./{name}")
                self.assertEqual((result.returncode, result.stdout), (126, ""))
                self.assertIn(what, result.stderr)
                # The address sanitizer writes lines of its own about the stack of the child.
                said = [line for line in result.stderr.splitlines() if line.startswith("mpiexec:")]
                self.assertEqual(len(said), 1, result.stderr)

    def test_script_without_first_line_runs(self):
        script = self.folder / "script"
        script.write_text("echo ran $1\n")
        script.chmod(0o755)
        self.assertEqual(self.run_job("./script", "x").stdout, "ran x\n")

    def test_program_of_the_present_folder_is_found_by_its_name(self):
        script = self.folder / "mine"
        script.write_text("#!/bin/sh\necho mine\n")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        self.assertEqual(self.run_job("mine").stdout, "mine\n")

    def test_bad_option_is_2_with_the_nearest_name(self):
        result = self.run_job("-n", 1, "--labell", "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn('did you mean "--label"', result.stderr)

    def test_hosts_that_are_all_this_one_need_nobody_else(self):
        (self.folder / "hosts").write_text("# here\nlocalhost slots=2\n127.0.0.1\n")
        result = self.run_job("-f", "hosts", "echo", "ran")
        self.assertEqual((result.returncode, result.stdout), (0, "ran\n" * 3), result.stderr)
        result = self.run_job("-f", "none", "-n", 1, "true")
        self.assertEqual(result.returncode, 2)
        self.assertIn("none", result.stderr)

    def test_hosts_without_a_process_manager_say_what_to_install(self):
        result = self.run_job("-host", "elsewhere", "-n", 1, "true", env={"PATH": str(self.folder)})
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, "elsewhere: .*install one: apt install mpich")

    def test_a_process_manager_gets_the_job(self):
        manager = self.folder / "prterun"
        manager.write_text('#!/bin/sh\nprintf "%s\\n" "$@" "$MINE"; exit 7\n')
        manager.chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        result = self.run_job("-host", "elsewhere:2", "-genv", "MINE", "a b", "true", "x y", env={"PATH": path})
        self.assertEqual(result.returncode, 7, result.stderr)
        lines = result.stdout.splitlines()
        self.assertEqual(lines[:6], ["--host", "elsewhere:2", "--map-by", "slot:OVERSUBSCRIBE", "-n", "2"])
        self.assertEqual(lines[-3:], ["true", "x y", "a b"])
        shown = self.run_job("-host", "elsewhere:2", "--dry-run", "true", "x y", env={"PATH": path})
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertRegex(shown.stdout, "prterun --host elsewhere:2 .* true 'x y'\n$")

    def test_a_dry_run_of_a_job_of_this_machine_starts_nothing(self):
        result = self.run_job("--dry-run", "-n", 3, "echo", "ran")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("3 ranks", result.stdout)
        self.assertNotIn("ran\n", result.stdout)

    def test_options_of_the_standard_work(self):
        (self.folder / "sub").mkdir()
        result = self.run_job("-n", 1, "-host", "localhost", "-arch", platform.machine(), "-soft", "1:4",
                              "-wdir", "sub", "-path", "/bin:/usr/bin", "pwd")
        self.assertEqual(os.path.basename(result.stdout.strip()), "sub")
        (self.folder / "config").write_text("# line\n-n 1 echo one\n-n 1 echo two\n")
        result = self.run_job("-configfile", "config")
        self.assertEqual(sorted(result.stdout.split()), ["one", "two"])

    def test_memory_kinds_are_taken_with_one_dash_or_two(self):
        for words in (["-memory-alloc-kinds", "system,mpi"], ["--memory-alloc-kinds", "cuda:device"],
                      ["--memory-alloc-kinds=mpi"]):
            result = self.run_job(*words, "-n", 1, "echo", "ran")
            self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "ran\n", ""), words)

    def test_missing_folder_is_named(self):
        result = self.run_job("-wdir", "no-such-folder", "/bin/true")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("no-such-folder", result.stderr)

    def test_help_and_version(self):
        self.assertIn("--timeout", self.run_job("--help").stdout)
        self.assertRegex(self.run_job("--version").stdout, r"Fulmar\) \d+\.\d+")

    def test_sixty_four_ranks_and_more_than_cores(self):
        result = self.run_job("-n", 64, *self.sh("echo $FULMAR_RANK"))
        self.assertEqual(sorted(map(int, result.stdout.split())), list(range(64)))

    def test_report_bindings_says_where(self):
        result = self.run_job("--report-bindings", "-n", 2, "--bind-to", "core", "true")
        self.assertRegex(result.stderr, r"rank 0 of 2: processors \d+")
        result = self.run_job("--report-bindings", "-n", 2, "--bind-to", "none", "true")
        self.assertIn("rank 1 of 2: not bound", result.stderr)

    def test_cpuset_of_mpiexec_is_respected(self):
        allowed = sorted(os.sched_getaffinity(0))
        one = allowed[-1]
        script = self.sh("grep Cpus_allowed_list /proc/self/status | cut -f2")
        result = self.run_job("-n", 1, *script, preexec_fn=lambda: os.sched_setaffinity(0, {one}))
        self.assertEqual(result.stdout.strip(), str(one))
        if len(allowed) >= 2:
            result = self.run_job("-n", 2, *script,
                                  preexec_fn=lambda: os.sched_setaffinity(0, allowed[:2]))
            self.assertEqual(len(set(result.stdout.split())), 2)

    def test_verbose_flags_of_other_launchers_are_harmless(self):
        result = self.run_job("--oversubscribe", "--allow-run-as-root", "-quiet", "--bind-to", "none",
                              "--mca", "btl", "self", "-n", 2, "echo", "x")
        self.assertEqual(result.stdout, "x\nx\n")

    def foreign_options(self):
        """(names, values, treatment, reason) of each row of the table in the source."""
        text = (TREE / "tools/mpiexec/foreign_options.cc").read_text()
        rows = re.findall(r'ForeignOption\{"([^"]+)",\s+(\d),\s+(accepted|refused),\s*((?:"(?:[^"\\]|\\.)*"\s*)+)\}', text)
        self.assertEqual(len(rows), text.count('ForeignOption{"'))
        for names, values, treatment, literal in rows:
            reason = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', literal)).replace('\\"', '"')
            yield names.split(), int(values), treatment, reason

    def test_options_of_other_launchers_do_what_the_manual_says(self):
        manual = (TREE / "docs/mpiexec.md").read_text()
        for names, values, treatment, reason in self.foreign_options():
            row = f"| {', '.join(f'`-{name}`' for name in names)} | {treatment} | {reason} |\n"
            self.assertIn(row, manual)
            for name in names:
                result = self.run_job(f"--{name}", *["1"] * values, "-n", 1, "echo", "ran")
                if treatment == "accepted":
                    self.assertEqual((result.returncode, result.stdout, result.stderr), (0, "ran\n", ""), name)
                else:
                    self.assertEqual((result.returncode, result.stdout), (2, ""), name)
                    self.assertIn(f'"--{name}" is an option of other launchers; here, {reason}', result.stderr)

    def test_options_shown_by_help_are_in_the_manual(self):
        manual = (TREE / "docs/mpiexec.md").read_text()
        for line in self.run_job("--help").stdout.splitlines():
            for name in re.findall(r"^  --?([a-z-]+)", line):
                self.assertRegex(manual, rf"`--?{name}\b", name)

    def test_amounts_of_ranks_and_cores(self):
        cores = len(os.sched_getaffinity(0))
        result = self.run_job("--map-by", "ppr:3:node", *self.sh("echo $FULMAR_RANK"))
        self.assertEqual(sorted(result.stdout.split()), ["0", "1", "2"])
        script = self.sh("grep Cpus_allowed_list /proc/self/status | cut -f2")
        one = self.run_job("-n", 2, "--map-by", "slot:PE=1,HWTCPUS", *script).stdout.split()
        self.assertTrue(all(text.isdigit() for text in one), one)
        self.assertEqual(len(set(one)), min(2, cores), one)

    def test_display_and_rank_map(self):
        host = platform.node()
        result = self.run_job("--display", "map,bind", "-n", 2, "--bind-to", "core", "true")
        self.assertIn(f"mpiexec: host {host}: ranks 0-1\n", result.stderr)
        self.assertRegex(result.stderr, r"rank 1 of 2: processors \d+")
        self.assertEqual(self.run_job("-print-rank-map", "-n", 3, "true").stdout, f"({host}:0,1,2)\n")

    def test_exit_codes_of_all_ranks(self):
        result = self.run_job("-print-all-exitcodes", "-n", 3, *self.sh("exit $((FULMAR_RANK == 1 ? 7 : 0))"))
        self.assertEqual(result.returncode, 7)
        self.assertIn("mpiexec: exit code 7: rank 1\n", result.stderr)
        result = self.run_job("-print-all-exitcodes", "-n", 2, "true")
        self.assertEqual(result.stderr, "mpiexec: exit code 0: ranks 0 1\n")
        result = self.run_job("-print-all-exitcodes", "-n", 1, *self.sh("kill -9 $$"))
        self.assertIn("mpiexec: exit code SIGKILL: rank 0\n", result.stderr)

    def test_interface_is_a_variable_of_ranks(self):
        self.assertEqual(self.run_job("-iface", "eth7", *self.sh("echo $FULMAR_TCP_INTERFACES")).stdout, "eth7\n")

    def test_memory_kinds(self):
        for option in ("-memory-alloc-kinds", "--memory-alloc-kinds"):
            self.assertEqual(self.run_job(option, "mpi,system", "-n", 1, "echo", "x").stdout, "x\n")
        self.assertEqual(self.run_job("-memory-alloc-kinds", "mpi,,x", "-n", 1, "true").returncode, 2)


if __name__ == "__main__":
    unittest.main()
