# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The fulmar tool as a user meets it: info, bench and report, and what they say to bad input."""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import unittest
from xml.etree import ElementTree

import tree

BUILD = pathlib.Path(os.environ["FULMAR_BUILD_DIR"])


def result_file(label, nanoseconds):
    points = [{"bytes": size, "median_ns": nanoseconds} for size in (8, 64, 1024)]
    return json.dumps({"format": "fulmar-bench", "version": 1, "label": label,
                       "series": [{"test": "latency", "ranks": 2, "points": points}]})


class ToolTest(tree.TreeTest):
    def fulmar(self, *arguments, tool=BUILD / "bin/fulmar", **variables):
        clean = {key: value for key, value in os.environ.items()
                 if not key.startswith(("FULMAR_", "PMI", "OMPI_"))}
        return subprocess.run([tool, *map(str, arguments)], capture_output=True, text=True, check=False,
                              cwd=self.root, timeout=100, env=clean | variables, stdin=subprocess.DEVNULL)


class Info(ToolTest):
    def test_it_has_the_version_of_mpiexec(self):
        version = subprocess.run([BUILD / "bin/mpiexec", "--version"], capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.fulmar("--version").stdout.split()[-1], version.split()[-1])

    def test_counts_of_the_chapters_add_up_to_the_whole_interface(self):
        run = self.fulmar("info", "--api")
        rows = re.findall(r"^ *\d+  \S.*?(\d+) +(\d+) +(\d+)$", run.stdout, re.MULTILINE)
        whole = re.search(r"^ +all +(\d+) +(\d+) +(\d+)$", run.stdout, re.MULTILINE)
        sums = [sum(int(row[column]) for row in rows) for column in range(3)]
        self.assertEqual(sums, [int(word) for word in whole.groups()])
        self.assertEqual(sums[0], 664)
        self.assertEqual(sums[0], sums[1] + sums[2])

    def test_every_missing_function_is_named(self):
        missing = int(re.search(r"^ +all .* (\d+)$", self.fulmar("info", "--api").stdout, re.MULTILINE)[1])
        names = re.findall(r"^  (MPI_\w+)$", self.fulmar("info", "--api", "--names").stdout, re.MULTILINE)
        self.assertEqual(len(names), missing)
        self.assertEqual(len(set(names)), missing)

    def test_an_option_shows_its_value_and_where_it_came_from(self):
        self.assertIn("(default)", self.fulmar("info").stdout)
        self.assertRegex(self.fulmar("info", FULMAR_FABRIC="shm").stdout, r"FULMAR_FABRIC +shm +\(environment\)")

    def test_variables_are_those_of_mpi_t(self):
        run = self.fulmar("info", "--variables")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stdout, r"(?m)^  FULMAR_MEMORY +control +\w")
        self.assertRegex(run.stdout, r"(?m)^  match_posted_length +level +\w")
        self.assertRegex(run.stdout, r"(?m)^  device_holds +counter +\w")
        controls = len(re.findall(r"(?m)^  FULMAR_\w+ +control ", run.stdout))
        self.assertIn(f" {controls} control variables", self.fulmar("info").stdout)

    def test_a_misspelt_option_is_noticed(self):
        self.assertIn("FULMAR_FABRICS; did you mean FULMAR_FABRIC?", self.fulmar("info", FULMAR_FABRICS="shm").stdout)

    def test_a_refused_value_is_shown_with_the_reason_that_jobs_hear(self):
        bad = {"FULMAR_EAGER_BYTES": "banana", "FULMAR_FABRIC": "shmm,shm", "FULMAR_COLL": "bcast:magic"}
        run = self.fulmar("info", **bad)
        self.assertEqual(run.returncode, 0, run.stderr)
        job = self.fulmar(BUILD / "bin/fulmar", "info", "--peers", tool=BUILD / "bin/mpiexec", **bad).stderr
        reasons = re.findall(r"(?m)^fulmar: (.*)$", job)
        self.assertEqual(len(reasons), len(bad), job)
        for name, reason in zip(("FULMAR_EAGER_BYTES", "FULMAR_FABRIC", "FULMAR_COLL"), reasons):
            self.assertRegex(run.stdout, rf"(?m)^  {name} .*\n .*\n +refused: {re.escape(reason)}$")
            self.assertTrue(reason.startswith(name), reason)
        self.assertNotIn("refused", self.fulmar("info").stdout)

    def test_names_the_networks_and_the_protocols(self):
        self.assertRegex(self.fulmar("info").stdout, r"shm +on")
        self.assertRegex(self.fulmar("info").stdout, r"tcp +on .*authenticated by lib")
        self.assertRegex(self.fulmar("info").stdout, r"ofi +(on .*libfabric \d|lacks a library .*libfabric|not in this build)")
        self.assertRegex(self.fulmar("info").stdout, r"verbs +(if asked for .*InfiniBand|not in this build)")
        self.assertRegex(self.fulmar("info").stdout, r"eager +0 - \d+ +any; fits into one packet")

    def test_files_of_a_folder(self):
        text = self.fulmar("info", "--files", f"ufs:{self.root}/new").stdout
        self.assertRegex(text, r"(?m)^file +/.*/new \(does not exist yet\)$")
        self.assertRegex(text, r"(?m)^file system +\w+ \(magic 0x[0-9a-f]{8}.*\), \S+ on /")
        self.assertRegex(text, r"(?m)^space +\S+ \w+ free of ")
        self.assertRegex(text, r"(?m)^locks +granted by ")
        self.assertRegex(text, r"(?m)^  cb_buffer_size +16777216 +default$")
        self.assertEqual(list(self.root.iterdir()), [])
        self.write("hints", "cb_buffer_size 65536\n")
        text = self.fulmar("info", "--files", self.root, ROMIO_HINTS=str(self.root / "hints")).stdout
        self.assertRegex(text, r"(?m)^  cb_buffer_size +65536 +ROMIO_HINTS$")
        nowhere = self.fulmar("info", "--files", self.root / "none" / "file")
        self.assertEqual(nowhere.returncode, 1)
        self.assertIn("neither such a file nor its folder", nowhere.stderr)

    def test_tells_of_rdma_devices(self):
        text = self.fulmar("info").stdout
        devices = sorted(os.listdir("/sys/class/infiniband")) if os.path.isdir("/sys/class/infiniband") else []
        self.assertEqual("\nRDMA devices: none\n" in text, not devices)
        for device in devices:
            self.assertRegex(text, rf"(?m)^  {device}:\d+ +(active|waiting|down) ")


class Peers(ToolTest):
    def peers(self, *launch, **variables):
        run = self.fulmar(*launch, BUILD / "bin/fulmar", "info", "--peers", tool=BUILD / "bin/mpiexec", **variables)
        self.assertEqual(run.returncode, 0, run.stderr)
        return run.stdout

    def test_ranks_of_a_node_share_memory(self):
        text = self.peers("-n", 3)
        self.assertRegex(text, r"(?m)^ +0 +\S+ +self +this process$")
        self.assertEqual(len(re.findall(r"(?m)^ +[12] +\S+ +shm +same node: shared memory$", text)), 2, text)
        self.assertIn("in both directions: shm 6", text)

    def test_what_an_option_changes_is_the_reason(self):
        text = self.peers("-n", 2, FULMAR_FABRIC="tcp")
        self.assertRegex(text, r"(?m)^ +1 +\S+ +tcp +same node, but FULMAR_FABRIC .*, from \S+:\d+ to \S+:\d+$")

    def test_alone_it_says_how_to_see_more(self):
        self.assertIn("mpiexec -n", self.fulmar("info", "--peers").stdout)


class Windows(ToolTest):
    def windows(self, *launch, **variables):
        """By kind of window: how other ranks are reached, agent and reason."""
        run = self.fulmar(*launch, BUILD / "bin/fulmar", "info", "--windows", tool=BUILD / "bin/mpiexec", **variables)
        self.assertEqual(run.returncode, 0, run.stderr)
        rows = [re.split(r"  +", line) for line in run.stdout.splitlines() if line.count("  ") >= 3]
        return {row[0]: row[1:] for row in rows}

    def test_ranks_of_a_node_load_and_store(self):
        seen = self.windows("-n", 3)
        for kind in ("MPI_Win_allocate, 4096 bytes", "MPI_Win_allocate, 1 MiB", "MPI_Win_create on memory of MPI_Alloc_mem"):
            self.assertEqual(seen[kind][0], "loads and stores 2")
        for kind in ("MPI_Win_create on other memory", "MPI_Win_create_dynamic"):
            self.assertEqual(seen[kind][0], "calls and kernel copies 2")
        self.assertEqual({row[1] for kind, row in seen.items() if kind != "window"}, {"target"})

    def test_private_memory_is_not_mapped(self):
        seen = self.windows("-n", 2, FULMAR_ALLOC_MEM="private")
        self.assertEqual(seen["MPI_Win_create on memory of MPI_Alloc_mem"][0], "calls and kernel copies 1")

    def test_over_tcp_requests_carry_all(self):
        seen = self.windows("-n", 2, FULMAR_FABRIC="tcp")
        for kind, row in seen.items():
            if kind != "window":
                self.assertEqual(row[:3], ["requests 1", "target", "no memory of the window is reached by adapters"])

    def test_alone_it_says_how_to_see_more(self):
        self.assertIn("mpiexec -n", self.fulmar("info", "--windows").stdout)


class Doctor(ToolTest):
    def findings(self, run):
        """By name; checks that the exit code fits."""
        self.assertIn(run.returncode, (0, 1), run.stderr)
        result = json.loads(run.stdout)
        self.assertEqual((result["format"], result["version"]), ("fulmar-doctor", 1))
        found = {finding["name"]: finding for finding in result["findings"]}
        verdicts = [finding["verdict"] for finding in result["findings"]]
        self.assertEqual({name: verdicts.count(name) for name in ("ok", "note", "warn", "fail")}, result["counts"])
        self.assertEqual(run.returncode, 1 if "fail" in verdicts else 0)
        for finding in found.values():
            self.assertEqual(finding["verdict"] == "ok", finding["remedy"] == "", finding)
        return found

    def doctor(self, **variables):
        return self.findings(self.fulmar("doctor", "--json", **variables))

    def test_looks_at_this_machine(self):
        found = self.doctor()
        for name in ("other hosts", "authentication", "host name", "processors", "memory", "open files", "file size",
                     "locked memory", "memory files", "single copies", "membarrier", "libfabric", "libibverbs",
                     "environment", "mpiexec", "libpmix"):
            self.assertIn(name, found)
        self.assertEqual(found["memory files"]["verdict"], "ok")
        self.assertIn("a job of one rank", found["environment"]["found"])

    def test_the_text_has_a_line_for_each(self):
        text = self.fulmar("doctor").stdout
        for group in ("network", "rdma", "limits", "kernel", "libraries", "launchers"):
            self.assertIn(f"\n\n{group}\n", text)
        self.assertRegex(text, r"(?m)^  ok    processors +\d")
        self.assertRegex(text, r"(?m)^\d+ ok, \d+ note, \d+ warn, \d+ fail$")

    def test_an_empty_path_and_few_descriptors(self):
        words = ["sh", "-c", 'ulimit -Sn 40; PATH=/nowhere exec "$0" doctor --json', BUILD / "bin/fulmar"]
        run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=100,
                             env={"PATH": os.environ["PATH"]})
        found = self.findings(run)
        self.assertEqual(found["open files"]["verdict"], "fail")
        self.assertTrue(found["open files"]["found"].startswith("40;"))
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        if hard == resource.RLIM_INFINITY or hard >= 4096:
            self.assertEqual(found["open files"]["remedy"], "ulimit -n 4096")
        self.assertIn(str(BUILD / "bin"), found["mpiexec"]["remedy"])
        self.assertEqual(found["several hosts"]["verdict"], "note")

    @unittest.skipIf("ASAN_OPTIONS" in os.environ or "TSAN_OPTIONS" in os.environ, "needs much address space")
    def test_a_limit_on_address_space(self):
        """What it says is what a job meets (tests/fault/test_limits.py)."""
        says = {"fail": "ranks needs", "note": "is made smaller", "ok": "left for each program"}
        for kib, verdicts in ((35000, ("fail",)), (200000, ("note", "fail")), (2000000, ("ok", "note")),
                              (4000000, ("ok", "note")), (100000000, ("ok",))):
            with self.subTest(kib=kib):
                limit = (kib * 1024, kib * 1024)
                run = subprocess.run([BUILD / "bin/fulmar", "doctor", "--json"], capture_output=True, text=True,
                                     check=False, timeout=100, env={"PATH": os.environ["PATH"]},
                                     preexec_fn=lambda limit=limit: resource.setrlimit(resource.RLIMIT_AS, limit))
                found = self.findings(run)["address space"]
                self.assertIn(found["verdict"], verdicts)
                self.assertIn(says[found["verdict"]], found["found"])

    def test_a_host_without_a_network(self):
        words = ["unshare", "-n", BUILD / "bin/fulmar", "doctor", "--json"]
        if subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("this machine allows no new name spaces")
        clean = {key: value for key, value in os.environ.items() if not key.startswith("FULMAR_")}
        run = subprocess.run(words, capture_output=True, text=True, check=False, timeout=100, env=clean)
        found = self.findings(run)
        self.assertEqual(found["other hosts"]["verdict"], "warn")
        self.assertIn("ip link", found["other hosts"]["remedy"])
        self.assertIn("no address that is up", found["other hosts"]["found"])
        self.assertNotIn("FULMAR_TCP_INTERFACES", found["other hosts"]["found"])
        self.assertNotIn("eth0", found)

    def test_a_host_without_libraries_and_without_a_name(self):
        """Files that hold no library lie over those of the system, in a name space of its own."""
        table = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
        hidden = re.findall(r"=> (\S*/lib(?:sodium|crypto|fabric|ibverbs)\.so\S*)", table)
        enter = ["unshare", "-m", "-u"]
        script = ["sh", "-ec", "".join(f"mount --bind /dev/null {file}\n" for file in hidden) +
                  "hostname nobody-knows\nmount --bind /dev/null /etc/hosts\n"
                  "[ ! -e /etc/resolv.conf ] || mount --bind /dev/null /etc/resolv.conf\nexec \"$@\"", "sh"]
        if subprocess.run([*enter, *script, "true"], check=False, capture_output=True).returncode != 0:
            self.skipTest("this machine allows no new name spaces, or no mounts in them")
        clean = {key: value for key, value in os.environ.items() if not key.startswith("FULMAR_")}

        def ask(*words):
            return subprocess.run([*enter, *script, BUILD / "bin/fulmar", *words], capture_output=True, text=True,
                                  check=False, timeout=100, env=clean)

        found = self.findings(ask("doctor", "--json"))
        self.assertEqual(found["authentication"]["verdict"], "warn")
        self.assertIn("libsodium23", found["authentication"]["remedy"])
        self.assertEqual(found["other hosts"]["verdict"], "warn")
        self.assertIn("not found", found["libfabric"]["found"])
        self.assertIn("nobody-knows", found["host name"]["found"])
        self.assertIn(found["host name"]["verdict"], ("note", "warn"))
        text = ask("info").stdout
        self.assertRegex(text, r"tcp +lacks a library .*libsodium23")
        self.assertRegex(text, r"ofi +(lacks a library .*libfabric1|not in this build)")

    def test_no_locked_memory_matters_for_adapters_only(self):
        words = ["sh", "-c", 'ulimit -l 0; exec "$0" doctor --json', BUILD / "bin/fulmar"]
        clean = {key: value for key, value in os.environ.items() if not key.startswith("FULMAR_")}
        found = self.findings(subprocess.run(words, capture_output=True, text=True, check=False, timeout=100, env=clean))
        adapters = any(os.path.isdir(each) and os.listdir(each) for each in ("/sys/class/infiniband", "/sys/class/cxi"))
        self.assertEqual(found["locked memory"]["verdict"], "warn" if adapters else "ok")
        self.assertIn("0 KiB", found["locked memory"]["found"])

    def test_no_device_matters_when_verbs_are_asked_for(self):
        if os.path.isdir("/sys/class/infiniband") and os.listdir("/sys/class/infiniband"):
            self.skipTest("this machine has RDMA devices")
        self.assertEqual(self.doctor()["RDMA devices"]["verdict"], "ok")
        found = self.doctor(FULMAR_FABRIC="verbs,tcp")["RDMA devices"]
        self.assertEqual(found["verdict"], "warn")
        self.assertIn("rdma_rxe", found["remedy"])

    def test_an_environment_that_keeps_jobs_from_starting(self):
        found = self.doctor(SLURM_STEP_NUM_TASKS="4", FULMAR_TCP_INTERFACES="none0", FULMAR_EAGER_BITES="1",
                            FULMAR_PMIX_LIBRARY="/nowhere/libpmix.so")
        self.assertEqual(found["environment"]["verdict"], "fail")
        self.assertIn("srun", found["environment"]["found"])
        self.assertEqual(found["other hosts"]["verdict"], "fail")
        self.assertIn("none0", found["other hosts"]["found"])
        self.assertEqual(found["FULMAR_EAGER_BITES"]["verdict"], "warn")
        self.assertIn("/nowhere/libpmix.so", found["libpmix"]["found"])


class Report(ToolTest):
    def test_page_is_written_into_a_new_folder_and_is_well_formed(self):
        files = [self.write("a.json", result_file("Mine", 100)), self.write("b.json", result_file("Other", 200))]
        run = self.fulmar("report", "--html", "new/page.html", *files)
        self.assertEqual(run.returncode, 0, run.stderr)
        page = (self.root / run.stdout.strip()).read_text()
        body = re.search(r"<main>.*</main>", page, re.DOTALL)[0].replace("<br>", "")
        pictures = [e for e in ElementTree.fromstring(body).iter() if e.tag == "svg"]
        self.assertEqual(len(pictures), 1)
        self.assertIn("2.00×", page)

    def test_files_that_are_no_results_are_named(self):
        for text, reason in (("", "parse error"), ("{}", "fulmar-bench"), ("[1]", "")):
            file = self.write("bad.json", text)
            run = self.fulmar("report", "--html", "page.html", file)
            self.assertEqual(run.returncode, 1)
            self.assertIn("bad.json", run.stderr)
            self.assertIn(reason, run.stderr)
            self.assertFalse((self.root / "page.html").exists())

    def test_a_missing_file_and_a_folder_that_cannot_be_made_are_errors(self):
        self.assertIn("none.json: No such file", self.fulmar("report", "--html", "p.html", "none.json").stderr)
        good = self.write("a.json", result_file("Mine", 100))
        run = self.fulmar("report", "--html", "a.json/page.html", good)
        self.assertEqual(run.returncode, 1)
        self.assertIn("cannot write a.json/page.html", run.stderr)


class Bench(ToolTest):
    def test_starts_itself_on_two_ranks_and_writes_both_files(self):
        run = self.fulmar("bench", "latency", "bandwidth", "barrier", "--sizes", "8,1024", "--milliseconds", "5",
                          "--json", "out/r.json", "--html", "out/r.html", "--commit", "abc")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stdout.splitlines()[-1], "out/r.html")
        result = json.loads((self.root / "out/r.json").read_text())
        self.assertEqual((result["label"], result["commit"], result["init_ranks"]), ("Fulmar", "abc", 2))
        sizes = {s["test"]: [p["bytes"] for p in s["points"]] for s in result["series"]}
        self.assertEqual(sizes, {"latency": [8, 1024], "bandwidth": [8, 1024], "barrier": [0]})
        self.assertTrue(all(p["median_ns"] > 0 for s in result["series"] for p in s["points"]))

    def test_more_ranks_than_cores_and_all_tests_come_to_an_end(self):
        run = self.fulmar("bench", "bibw", "rate", "barrier", "allreduce", "-n", "5", "--sizes", "0,8,65536",
                          "--milliseconds", "2", "--json", "r.json")
        self.assertEqual(run.returncode, 0, run.stderr)
        ranks = {s["test"]: s["ranks"] for s in json.loads((self.root / "r.json").read_text())["series"]}
        self.assertEqual(ranks, {"bibw": 2, "rate": 4, "barrier": 5, "allreduce": 5})

    def test_an_exchange_goes_on_while_a_rank_joins_and_leaves(self):
        for call, fabric in (("beside", "shm,tcp"), ("between", "shm,tcp"), ("beside", "tcp")):
            run = self.fulmar("bench", "joining", "--call", call, "--times", 3, "--json", "j.json", FULMAR_FABRIC=fabric)
            self.assertEqual(run.returncode, 0, run.stderr)
            results = json.loads((self.root / "j.json").read_text())
            took = {series["test"]: series["points"][0]["median_ns"] for series in results["series"]}
            self.assertEqual(len(took), 8, took)
            # Beside it, whole steps fit into the joining; between two, one step has all of it but the last exchanges.
            if call == "beside":
                self.assertLess(took["gap-joining"], 0.9 * took["joining"], took)
            else:
                self.assertGreater(took["gap-joining"], 0.5 * took["joining"], took)
            (timeline,) = results["timelines"]
            joins, leaves = timeline["phases"]
            self.assertLess(joins["end_ms"], leaves["begin_ms"])
            self.assertLess(timeline["longest"][0][0], 0)
            self.assertGreater(timeline["longest"][-1][0], leaves["end_ms"])

    def test_joining_is_of_two_ranks(self):
        run = subprocess.run([BUILD / "bin/mpiexec", "-n", "3", BUILD / "bin/fulmar", "bench", "joining"],
                             capture_output=True, text=True, check=False, cwd=self.root, timeout=100)
        self.assertEqual(run.returncode, 1)
        self.assertIn("needs 2 ranks, and there are 3", run.stderr)

    def test_compares_with_an_earlier_file(self):
        earlier = self.write("earlier.json", result_file("Snail", 1e9))
        run = self.fulmar("bench", "latency", "--sizes", "8", "--milliseconds", "5", "--compare", earlier)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("fastest of Snail", run.stdout)
        self.assertRegex(run.stdout, r"8 B +\S+ +\d+\.\d\dx")

    def test_bad_input_is_refused_before_ranks_start(self):
        for words, complaint in ((["bench", "latencies"], "latencies"), (["bench", "--compare", "none.json"], "none.json"),
                                 (["bench", "--sizes", "x"], "sizes"), (["bench", "-n", "1"], "ranks"),
                                 (["benchmark"], 'no subcommand "benchmark"'), (["bogus"], "bench, report, doctor, info"),
                                 (["--bogus"], 'no option "--bogus"'), ([], "subcommand")):
            run = self.fulmar(*words)
            self.assertNotEqual(run.returncode, 0, words)
            self.assertIn(complaint, run.stderr + run.stdout)
            self.assertNotIn("MPI_Init", run.stdout)

    def test_one_rank_is_too_few(self):
        run = self.fulmar("-n", "1", BUILD / "bin/fulmar", "bench", "latency", tool=BUILD / "bin/mpiexec")
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("at least 2 ranks", run.stderr)

    def test_without_mpiexec_beside_it_says_what_to_do(self):
        lonely = self.root / "lonely/fulmar"
        lonely.parent.mkdir()
        shutil.copy(BUILD / "bin/fulmar", lonely)
        run = self.fulmar("bench", "latency", tool=lonely, LD_LIBRARY_PATH=str(BUILD / "lib"))
        self.assertEqual(run.returncode, 1)
        self.assertIn(f"cannot start {self.root}/lonely/mpiexec", run.stderr)


if __name__ == "__main__":
    unittest.main()
