# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""FULMAR_TRACE and fulmar trace: what is recorded of a job, and how it is shown; and fulmar bench layers, which uses
it. Nothing here depends on how fast the machine is."""

import json
import os
import pathlib
import re
import subprocess
import unittest
from xml.etree import ElementTree

import tree

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])


class TraceTest(tree.TreeTest):
    def run_clean(self, *command, **variables):
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("FULMAR_", "PMI", "OMPI_"))}
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False, cwd=self.root,
                              timeout=350, env=clean | variables, stdin=subprocess.DEVNULL)

    def fulmar(self, *arguments, **variables):
        return self.run_clean(BUILD / "bin/fulmar", *arguments, **variables)

    def bench(self, size, *options, **variables):
        run = self.fulmar("bench", "latency", "--sizes", size, "--milliseconds", "1", *options, FULMAR_TRACE="t",
                          **variables)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run

    def shown(self, *options):
        run = self.fulmar("trace", "t", *options)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout


def counts_in(text):
    """By the names on the way to it from the top: how often a line of the tree says."""
    found, path = {}, []
    for line in text.splitlines():
        row = re.match(r"^( *)([A-Za-z]\S*(?: \S+)*?) {2,}(\d+) +\S", line)
        if row:
            depth = len(row[1]) // 2
            path = path[:depth] + [row[2]]
            found["/".join(path)] = int(row[3])
    return found


class Trace(TraceTest):
    def test_stages_of_a_short_message(self):
        self.bench(8, FULMAR_TRACE_RECORDS="2M")
        counts = counts_in(self.shown())
        sends, receives = counts["MPI_Send"], counts["MPI_Recv"]
        self.assertGreater(sends, 5)
        self.assertEqual(counts["MPI_Send/start send"], sends, counts)
        self.assertEqual(counts["MPI_Send/start send/post eager"], sends, counts)
        self.assertEqual(counts["MPI_Recv/start receive"], receives, counts)
        taken = sum(count for name, count in counts.items() if name.endswith("/take eager"))
        self.assertEqual(taken, receives, counts)
        self.assertNotIn("post rts", " ".join(counts))

    def test_one_exchange_for_a_long_message(self):
        self.bench(1 << 20, FULMAR_LONG_COPY="share")
        counts = counts_in(self.shown())

        def all_of(stage):
            return sum(count for name, count in counts.items() if name.split("/")[-1] == stage)
        announced = all_of("post rts")
        self.assertGreater(announced, 2)
        self.assertEqual((all_of("take rts"), all_of("post fin"), all_of("take fin"), all_of("post cts_shared")),
                         (announced, announced, announced, announced), counts)
        self.assertEqual(all_of("copy piece"), 16 * announced, counts)

    def test_the_progress_thread_has_its_turns(self):
        self.bench(8, FULMAR_PROGRESS_THREAD="only", FULMAR_TRACE_RECORDS="2M")
        counts = counts_in(self.shown())
        turn = "turn of the progress thread"
        tops = {name.split("/")[0] for name in counts}
        self.assertEqual({top for top in tops if not top.startswith("MPI_")}, {turn}, counts)
        # Each message is taken once, by the thread or by a call; how many the thread meets depends on who comes first.
        taken = sum(count for name, count in counts.items() if name.endswith("/take eager"))
        self.assertEqual(taken, counts["MPI_Recv"], counts)
        self.assertGreater(counts[f"{turn}/take eager"], 0, counts)

    def test_accesses_to_files(self):
        # Which changes its working directory: the folder is meant as it was at the start.
        run = self.run_clean(BUILD / "bin/mpiexec", "-n", 2, BUILD / "tests/mpi.io.basics", FULMAR_TRACE="t")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        text = self.shown("--html", "o/t.html")
        rows = re.findall(r"(?m)^ +([01]) (MPI_File_\w+) +(\d+) +(\d+) +(\d+) +(\d+) ", text)
        calls = {call for _, call, *_ in rows}
        self.assertTrue({"MPI_File_write", "MPI_File_read_at", "MPI_File_write_ordered"} <= calls, text)
        self.assertEqual({rank for rank, *_ in rows}, {"0", "1"}, text)
        self.assertTrue(any(int(system_calls) > 0 for *_, system_calls in rows), text)
        self.assertRegex(text, r"(?m)^ +p(read|write)v? +\d+ ")  # in the tree
        page = (self.root / "o/t.html").read_text()
        ElementTree.fromstring(re.sub("<meta[^>]*>", "", page.removeprefix("<!doctype html>\n")))
        self.assertIn("written by system calls", page)
        self.assertIn("<title>written: ", page)

    def test_page_and_timeline(self):
        self.bench(8)
        self.shown("--html", "o/t.html", "--chrome", "o/t.json")
        page = (self.root / "o/t.html").read_text()
        self.assertIn("post eager", page)
        ElementTree.fromstring(re.sub("<meta[^>]*>", "", page.removeprefix("<!doctype html>\n")))
        events = json.loads((self.root / "o/t.json").read_text())["traceEvents"]
        begins = [event for event in events if event["ph"] == "B"]
        self.assertEqual({event["pid"] for event in begins}, {0, 1})
        self.assertIn("MPI_Send", {event["name"] for event in begins})

    def test_calls_that_any_thread_may_make_at_any_time(self):
        """They are recorded beside MPI_Init, and beside MPI_Finalize, which writes the trace."""
        run = self.run_clean(BUILD / "bin/mpiexec", "-n", 2, BUILD / "tests/mpi.environment.always", FULMAR_TRACE="t")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("MPI_Info_create", counts_in(self.shown()))

    def test_a_small_ring_keeps_the_end_and_says_so(self):
        self.bench(8, "--counts", "8", FULMAR_TRACE_RECORDS="1024")  # 256 messages at least
        self.assertIn("older records are gone", self.shown())
        lines = (self.root / "t/rank-0.trace").read_text().splitlines()
        self.assertLessEqual(sum(line.startswith(("b ", "e ")) for line in lines), 1024)

    def test_nothing_is_left_without_the_option(self):
        run = self.fulmar("bench", "latency", "--sizes", "8", "--milliseconds", "1")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(list(self.root.iterdir()), [])

    def test_a_folder_that_cannot_be_written_costs_the_trace_alone(self):
        self.write("t", "a file")
        run = self.bench(8)
        self.assertIn(f"FULMAR_TRACE={self.root}/t: no trace is kept", run.stderr)

    def test_what_cannot_be_shown_is_named(self):
        run = self.fulmar("trace", "none")
        self.assertEqual(run.returncode, 1)
        self.assertIn("none: ", run.stderr)
        (self.root / "empty").mkdir()
        self.assertIn("run the program with FULMAR_TRACE=empty", self.fulmar("trace", "empty").stderr)
        self.write("bad/rank-0.trace", "fulmar-trace 2\nrank 0 of 1\nhost h\nb 1 0 0 - 0\n")
        self.assertIn("bad/rank-0.trace: line 4 ", self.fulmar("trace", "bad").stderr)

    def test_traces_of_two_jobs_are_not_mixed(self):
        head = "fulmar-trace 2\nrank {} of {}\nhost h\n"
        self.write("t/rank-0.trace", head.format(0, 2))
        self.write("t/rank-1.trace", head.format(1, 3))
        run = self.fulmar("trace", "t")
        self.assertEqual(run.returncode, 1)
        self.assertIn("empty the folder", run.stderr)


class Layers(TraceTest):
    def test_every_figure_of_shared_memory_is_measured_and_judged(self):
        run = self.fulmar("bench", "layers", "--quick", "--networks", "shm", "--html", "l.html")
        self.assertEqual(run.returncode, 0, run.stderr)
        (left_out,) = re.findall("(?m)^Left out: (.*)$", run.stdout)
        self.assertIn("programs of NAS: Not measured: --nas names the folder", left_out)
        summary = run.stdout[run.stdout.index("Latency of the basic design"):]
        unknown = re.search(r"(?m)^Not measured:\n((?:  .*\n)+)", summary)[1].splitlines()
        self.assertEqual(len(unknown), 26, summary)  # those of an adapter, and three of programs of NAS
        page = (self.root / "l.html").read_text()
        for part in ("random-ring", "slowest pair", "barrier, all ranks", "derived type", "MPI_Sendrecv",
                     "MPI_Allreduce", "In a burst".lower(), "post rts", "Writes for 8 bytes: 3 basic, 1 with", "rect class='phase'"):
            self.assertIn(part, page)
        self.assertRegex(page, r"<p class='about'>[^,<]*\w[^,<]*, [1-9]\d* cores?, Linux ")
        self.assertRegex(summary, "Exchanges of a long message +holds here")
        # Times of one round decide nothing.
        self.assertRegex(summary, "A rank joins a running exchange and leaves it +is undecided here +Shared memory: it joins")
        self.assertRegex(summary, "MPI_Put and MPI_Win_flush, on a node +is undecided here +A put of 8 bytes and its flush: ")
        # A count, as times depend on the machine. How often the others sleep depends on it, too: what has come by then
        # is taken without.
        disturbed = re.search(r"the thread was woken \S+ times; .* (\S+) times\.", summary)
        self.assertLess(float(disturbed[1]), 0.1, summary)

    def test_what_is_over_time_is_left_out_and_said(self):
        run = self.fulmar("bench", "layers", "--quick", "--networks", "shm", "--seconds", "1", "--html", "l.html")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"(?m)^Left out: the time was over: the last round is without \d+ settings$")
        self.assertIn("Left out: the time was over: calls and stages", run.stdout)
        self.assertIn("What is done for each message", (self.root / "l.html").read_text())

    def counted_over_libfabric(self, **variables):
        """Counters for each message of 1 MiB, over libfabric's own tcp, which reads and writes memory of peers, too."""
        if not re.search("^  ofi +on ", self.fulmar("info").stdout, re.MULTILINE):
            self.skipTest("no libfabric")
        run = self.fulmar("bench", "latency", "--sizes", "1048576", "--milliseconds", "1", "--counts", "1048576",
                          "--json", "c.json", FULMAR_FABRIC="ofi", **variables)
        self.assertEqual(run.returncode, 0, run.stderr)
        counts = json.loads((self.root / "c.json").read_text())["counts"]
        return {count["name"]: count["per_message"] for count in counts}

    def test_what_is_inlined_is_not_moved_by_adapters(self):
        for way, moved in (("fetch", "device_fetched_messages"), ("put", "device_put_messages")):
            for inlined in (0, 1984):
                counts = self.counted_over_libfabric(FULMAR_RDMA=way, FULMAR_RDMA_INLINE=str(inlined))
                self.assertEqual((counts[moved], counts["device_remote_bytes"]), (1, 1048576 - inlined), counts)

    def test_a_put_whose_end_is_told_apart_moves_the_same(self):
        counts = self.counted_over_libfabric(FULMAR_RDMA="put", FULMAR_RDMA_FIN="apart")
        self.assertEqual((counts["device_put_messages"], counts["device_remote_bytes"]), (1, 1048576), counts)


if __name__ == "__main__":
    unittest.main()
