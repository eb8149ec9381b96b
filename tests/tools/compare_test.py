# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""bench/compare interleaves its rounds, takes medians over them, and tells where Fulmar is behind."""

import json
import os
import subprocess
import sys
import unittest

import tree

sys.path.insert(0, str(tree.ROOT / "bench/peers"))
import figures  # noqa: E402

# Stands for a launcher: runs the program behind `-n N` and its own options once, with the number in the environment.
LAUNCHER = """#!/bin/sh
ranks=$2
while [ "${1##*/}" != mpibench ]; do shift; done
RANKS=$ranks exec "$@"
"""

# Stands for mpibench: the n-th start takes the n-th factor; notes the order of all starts.
PROGRAM = """#!{python} -ES
import json, os, sys
name, factors, log = {name!r}, {factors!r}, {log!r}
with open(log, "a") as file:
    file.write(name + "\\n")
count = open(log).read().split().count(name)
factor = factors[min(count - 1, len(factors) - 1)]
if factor is None:
    print("no memory", file=sys.stderr)
    sys.exit(3)
if factor == "hang":
    os.execvp("sleep", ["sleep", "100"])
tests = sys.argv[sys.argv.index("--tests") + 1].split(",")
ranks = int(os.environ["RANKS"])
series = [dict(test=test, ranks=ranks, points=[dict(
    bytes=0 if test == "barrier" else 8, median_ns=100 * factor, low_ns=90 * factor, high_ns=110 * factor,
    batches=9, operations=90)]) for test in tests]
print("a line before the figures")
print(json.dumps(dict(label=name, library=name + " 1.0", processor="x", kernel="y", cores=2, time="z",
                      init_ms=5 * factor, init_ranks=ranks, series=series)))
"""
# Stands for fulmar-raw: probes the cache line only; anything else fails.
RAW = """#!{python} -ES
import json, sys
if "raw-cache-line" not in sys.argv:
    sys.exit(1)
with open({log!r}, "a") as file:
    file.write("probe\\n")
count = len(open({log!r}).read().split())
line = {probes!r}[count - 1] if count <= len({probes!r}) else 200
print(json.dumps(dict(series=[dict(points=[dict(median_ns=line)])])))
"""
JOBS = 6  # commands of one library in a round


class Compare(tree.TreeTest):
    def program(self, path, text):
        file = self.write(path, text)
        os.chmod(file, 0o755)

    def library(self, name, factors):
        """A library whose n-th command takes `factors[n]` times 100 ns; None fails."""
        log = str(self.root / "order.log")
        text = PROGRAM.format(python=sys.executable, name=name, factors=factors, log=log)
        if name == "fulmar":
            self.program("build/bin/mpibench", text)
            self.program("build/bin/mpiexec", LAUNCHER)
            return
        self.program(f"peers/{name}/mpibench", text)
        self.program(f"peers/{name}/bin/mpiexec", LAUNCHER)
        self.program(f"peers/{name}/bin/mpicxx", "#!/bin/sh\n")

    def compare(self, *arguments):
        command = [sys.executable, "-B", str(tree.ROOT / "bench/compare"), "--build", str(self.root / "build"),
                   "--peers", str(self.root / "peers"), "--output", str(self.root / "out"), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=200)

    def result(self, name):
        return json.loads((self.root / "out" / f"{name}.json").read_text())

    def test_rounds_are_interleaved(self):
        self.library("fulmar", [1])
        self.library("mpich", [2])
        self.compare("--rounds", "2")
        order = (self.root / "order.log").read_text().split()
        self.assertEqual(order, (["fulmar"] * JOBS + ["mpich"] * JOBS) * 2)

    def test_figure_is_the_median_over_rounds(self):
        self.library("fulmar", [1] * JOBS + [7] * JOBS + [2] * JOBS)
        self.compare("--rounds", "3")
        latency = next(s for s in self.result("fulmar")["series"] if s["test"] == "latency")
        self.assertEqual(latency["points"][0]["median_ns"], 200)
        self.assertEqual(latency["points"][0]["batches"], 27)

    def test_being_ahead_everywhere_is_said(self):
        self.library("fulmar", [1])
        self.library("mpich", [3])
        self.library("intel", [2])
        run = self.compare("--rounds", "1")
        self.assertIn("ahead of the best peer at 9 of 9 points", run.stdout)
        self.assertIn("2.00x", run.stdout)
        self.assertNotIn("not ahead:", run.stdout)
        self.assertEqual(run.returncode, 0, run.stderr)

    def test_every_point_behind_is_named_with_the_peer(self):
        self.library("fulmar", [1.0, 1.0, 1.0, 3.0, 1.0, 1.0])  # slow in its fourth command: 2 ranks, collectives
        self.library("openmpi", [2])
        run = self.compare("--rounds", "1")
        behind = [line.strip() for line in run.stdout.splitlines() if "not ahead:" in line]
        self.assertEqual(behind, ["not ahead: allreduce at 2 ranks, 8 B: 1.50 times the time of Open MPI",
                                  "not ahead: barrier at 2 ranks, 0 B: 1.50 times the time of Open MPI"])

    def test_a_command_that_fails_is_named_and_left_out(self):
        self.library("fulmar", [1])
        self.library("mpich", [2, None])
        run = self.compare("--rounds", "1")
        self.assertEqual(run.stdout.count("exit code 3"), JOBS - 1)
        self.assertIn("no memory", run.stdout)
        self.assertEqual([s["test"] for s in self.result("mpich")["series"]], ["latency"])

    def test_a_command_that_hangs_is_ended(self):
        self.library("fulmar", [1])
        self.library("mpich", ["hang", 2])
        run = self.compare("--rounds", "1", "--timeout", "60")  # busy machines have stopped others for more than 20 s
        self.assertEqual(run.stdout.count("timed out after 60 s"), 1, run.stdout)
        self.assertEqual(run.returncode, 0, run.stderr)

    def probes(self, lines):
        """Probes of the cache line, two for each run; 200 ns when they are used up."""
        self.program("build/bin/fulmar-raw", RAW.format(python=sys.executable, probes=lines,
                                                        log=str(self.root / "probes.log")))

    def median(self, name):
        return self.result(name)["series"][0]["points"][0]["median_ns"]

    def test_near_and_far_cores_are_tables_of_their_own(self):
        self.library("fulmar", [1] * JOBS + [9] * JOBS)
        self.library("mpich", [2] * JOBS + [3] * JOBS)
        self.probes([50] * 4 * JOBS)  # the first round; then, in the second one, 200
        run = self.compare("--rounds", "2")
        self.assertIn(f"Fulmar {JOBS} near, {JOBS} far; MPICH {JOBS} near, {JOBS} far", run.stdout)
        self.assertEqual([self.median(name) for name in ("fulmar-near", "fulmar-far", "mpich-near", "mpich-far")],
                         [100, 900, 200, 300])
        page = (self.root / "out/compare.md").read_text()
        self.assertIn("* cores near each other: Fulmar is ahead of the best peer at 9 of 9 points, behind at 0", page)
        self.assertIn("* cores far from each other: Fulmar is ahead of the best peer at 0 of 9 points, behind at 9", page)

    def test_a_run_during_which_the_cores_were_moved_or_one_is_kept_but_in_no_table(self):
        self.library("fulmar", [1] * JOBS + [0.1, 9] + [1] * (JOBS - 2))
        self.probes([50] * (2 * JOBS + 1) + [20, 20, 50, 250] + [50] * 2 * (JOBS - 2))
        run = self.compare("--rounds", "2")
        self.assertIn(f"Fulmar {2 * JOBS - 2} near, 1 one core, 1 moved", run.stdout)
        self.assertEqual(self.median("fulmar-near"), 100)
        runs = json.loads((self.root / "out/compare-runs.json").read_text())["fulmar"]
        self.assertEqual(len(runs), 2 * JOBS)
        self.assertIn([50, 250], [ends for _, ends, _ in runs])

    def test_runs_are_added_to_those_of_an_earlier_call(self):
        self.library("fulmar", [1] * JOBS + [3] * JOBS)
        self.compare("--rounds", "1")
        self.compare("--rounds", "1", "--add")
        self.assertEqual(self.median("fulmar"), 200)
        self.compare("--rounds", "1")
        self.assertEqual(self.median("fulmar"), 300)

    def test_a_run_waits_until_the_cores_are_as_they_are_wanted(self):
        self.library("fulmar", [1])
        self.probes([50, 50] + [50, 50, 250, 250] * (JOBS - 1) + [50, 250, 250])
        run = self.compare("--rounds", "1", "--cores", "far")
        self.assertIn(f"Fulmar {JOBS} far", run.stdout)

    def test_first_calls_are_asked_for_and_reported_apart(self):
        self.library("fulmar", [1])
        text = (self.root / "build/bin/mpibench").read_text()
        self.program("build/bin/mpibench", text.replace("tests = ", "assert '--first 100' in ' '.join(sys.argv)\ntests = ", 1))
        run = self.compare("--rounds", "1", "--set", "forms", "--ranks", "2", "--tests", "ibcast", "--first", "100")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.result("fulmar-forms-first")["series"][0]["test"], "ibcast")
        self.assertIn("ibcast, 2 ranks", (self.root / "out/compare-forms-first.md").read_text())

    def test_points_at_which_runs_disagree_are_undecided(self):
        self.library("fulmar", [1] * JOBS + [3] * JOBS)
        self.library("mpich", [2])
        run = self.compare("--rounds", "2")
        self.assertIn("ahead of the best peer at 0 of 9 points, behind at 0; undecided: 9", run.stdout)
        self.assertIn("undecided: latency at 2 ranks, 8 B: 1.00 times the time of MPICH", run.stdout)

    def test_nothing_to_measure_is_an_error(self):
        run = self.compare()
        self.assertEqual(run.returncode, 1)
        self.assertIn("nothing to measure", run.stderr)


def samples_of(**times):
    """Samples by library; `times[name]` has nanoseconds by (test, bytes)."""
    found = {name: figures.Samples({"intel": "Intel MPI"}.get(name, name)) for name in ("fulmar", "raw", "intel")}
    for name, points in times.items():
        for (test, size), ns in points.items():
            found[name].points[(test, 2, size)] = [{"median_ns": ns}]
    return found


class NetworkAims(unittest.TestCase):
    LATENCIES = (0, 8, 1024, 65536)
    MESSAGES = (8, 4096, 65536, 1 << 20)

    def lines(self, ours, raw=100, peer=100):
        """The aims where Fulmar takes `ours.get((test, size), 100)` ns and the others the same at each size."""
        keys = [("latency", size) for size in self.LATENCIES] + [("bandwidth", size) for size in self.MESSAGES]
        bare = {("raw-socket" if test == "latency" else "raw-socket-stream", size): raw for test, size in keys}
        mine = {key: ours.get(key, 100) for key in keys}
        return figures.aims(samples_of(fulmar=mine, raw=bare, intel=dict.fromkeys(keys, peer)))

    def test_main_figures_are_said_also_where_the_aim_is_reached(self):
        self.assertEqual(self.lines({("bandwidth", 8): 25}), [
            "8 B latency is 1.00 times that of a bare socket and 1.00 times that of Intel MPI; "
            "the aims are 1.15 and 1 at most",
            "8-byte messages: 4.00 times the rate of Intel MPI; the aim is 3",
            "bandwidth at 4 KiB is 1.00 times that of a bare socket and 1.00 times that of Intel MPI; "
            "the aims are 0.95 and 1 at least",
            "bandwidth at 1 MiB is 1.00 times that of a bare socket and 1.00 times that of Intel MPI; "
            "the aims are 0.95 and 1 at least"])

    def test_every_size_that_misses_an_aim_is_named(self):
        slow = {("latency", 1024): 120, ("latency", 65536): 900, ("bandwidth", 65536): 110}
        named = [line for line in self.lines(slow, peer=200) if "1 KiB" in line or "64 KiB" in line]
        self.assertEqual(named, [
            "1 KiB latency is 1.20 times that of a bare socket and 0.60 times that of Intel MPI; "
            "the aims are 1.15 and 1 at most",
            "bandwidth at 64 KiB is 0.91 times that of a bare socket and 1.82 times that of Intel MPI; "
            "the aims are 0.95 and 1 at least"])
        behind = [line for line in self.lines({("bandwidth", 65536): 95}, peer=90) if "64 KiB" in line]
        self.assertEqual(len(behind), 1)


if __name__ == "__main__":
    unittest.main()
