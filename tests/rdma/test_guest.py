# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""One guest with a soft-RoCE device: the device itself, what the tool fulmar says of it, the provider for verbs, and
MPI programs whose ranks have nothing but verbs between them.

An emulated machine takes its time, so what is listed as "in short" is all that runs here; FULMAR_TEST_EVERY_PATH=1, as in
the soak, runs everything."""

import json
import os
import re
import subprocess
import unittest

import support
from support import BUILD, FULMAR, MPIEXEC, PING, Step

WAYS = ("send", "empty send", "inline send", "long send", "completion event", "write", "write before send",
        "write with immediate", "read", "read of read-only memory", "atomic", "refusal")
TIMEOUT_S = 2700
EVERY_PATH = "FULMAR_TEST_EVERY_PATH" in os.environ
PROGRAMS_IN_SHORT = ("p2p.modes", "p2p.probe", "p2p.types", "coll.movement", "coll.nonblocking", "partitioned.rounds",
                     "rma.adapters", "rma.operations")
LACKING = support.lacks_verbs()
# How adapters move long messages, and what these programs are told besides.
REMOTE_WAYS = ("fetch", "put", "off")
REMOTE_PROGRAMS = {"p2p.modes": {"FULMAR_RDMA_BYTES": "1000", "FULMAR_EAGER_BYTES": "1000"},
                   "p2p.order": {"FULMAR_RDMA_BYTES": "1000", "FULMAR_EAGER_BYTES": "1000"},
                   "p2p.remapped": {}, "p2p.types": {"FULMAR_RDMA_BYTES": "1", "FULMAR_EAGER_BYTES": "0"}}
REMOTE_PROGRAMS_IN_SHORT = ("p2p.remapped",)

# The papers' channel designs and stacks, and the programs that run over them.
DESIGNS = {"basic": {"FULMAR_CHANNEL": "basic"}, "piggyback": {"FULMAR_CHANNEL": "piggyback"},
           "pipeline": {"FULMAR_CHANNEL": "pipeline"}, "zerocopy": {"FULMAR_CHANNEL": "zerocopy"},
           "zerocopy_put": {"FULMAR_CHANNEL": "zerocopy", "FULMAR_RDMA": "put"},
           "ch3": {"FULMAR_STACK": "ch3"}}
DESIGN_PROGRAMS = {"tool.design": (4, ["used"]), "p2p.modes": (2, []), "p2p.order": (2, []), "coll.movement": (4, [])}
DESIGN_PROGRAMS_IN_SHORT = ("tool.design",)

# What the study of layers changes besides, with long messages between two ranks (docs/benchmarks.md).
STUDIES = {"inlined.fetch": {"FULMAR_RDMA": "fetch", "FULMAR_RDMA_INLINE": "700"},
           "inlined.put": {"FULMAR_RDMA": "put", "FULMAR_RDMA_INLINE": "700"},
           "apart": {"FULMAR_RDMA": "put", "FULMAR_RDMA_FIN": "apart"}, "two_queues": {"FULMAR_VERBS_QUEUES": "two"}}
STUDIES_IN_SHORT = ("two_queues",)
# Designs with the progress thread: what it does while a rank is away, and all of it.
THREADS = {"basic": "on", "zerocopy": "on", "ch3": "on", "zerocopy_put": "only"}
THREADS_IN_SHORT = ("basic",)
THREAD_PROGRAMS = {"on": ("progress.away", ["helped"]), "only": ("p2p.order", [])}
# Two threads, one for each queue, and what runs over them in packets, by reads and by writes.
TWO_THREADS = {"FULMAR_PROGRESS_THREAD": "two", "FULMAR_VERBS_QUEUES": "two"}
TWO_THREADS_PROGRAMS_IN_SHORT = {"put": ["coll.nonblocking"], "fetch": ["p2p.remapped"]}
TWO_THREADS_PROGRAMS = {"off": ["p2p.modes"], "put": ["p2p.modes", "coll.nonblocking"],
                        "fetch": ["p2p.modes", "p2p.order", "p2p.threads", "p2p.remapped", "coll.nonblocking"]}

# Programs that leave MPI and enter it again, or in which others do, and on how many ranks.
RETURNS = {"session.reentry": (2, 4), "session.cancel_before_world": (2,), "session.cancel_after_end": (2,),
           "environment.cancel_in_finalize": (4,)}
RETURNS_IN_SHORT = {"session.reentry": (2,), "environment.cancel_in_finalize": (4,)}
RETURN_NETWORKS = {"verbs": {"FULMAR_FABRIC": "verbs"},
                   "rails": {"FULMAR_FABRIC": "verbs,tcp", "FULMAR_RAILS": "verbs+tcp"}}


def provider_tests():
    """The command that runs the provider's own tests; empty where the build has none."""
    for command in ([BUILD / "tests" / "provider_verbs"], [BUILD / "tests" / "provider", "--gtest_filter=*Verbs*"]):
        if command[0].exists():
            listed = subprocess.run([*command, "--gtest_list_tests"], capture_output=True, text=True, check=False)
            if re.search(r"^  \w", listed.stdout, re.MULTILINE):
                return command
    return []


PROVIDER = provider_tests()


def chosen(everything, in_short):
    """What runs of `everything`, names or a table by name."""
    names = [name for name in everything if EVERY_PATH or name in in_short]
    return {name: everything[name] for name in names} if isinstance(everything, dict) else names


def ranks_of(program):
    """Up to 4, and 2 where everything runs."""
    return sorted({min(program.most_ranks, 4)} | ({2} if EVERY_PATH else set()))


def program_steps():
    steps = []
    programs = {program.name: program for program in support.programs()}
    for program in chosen(programs, PROGRAMS_IN_SHORT).values():
        for ranks in ranks_of(program):
            command = [MPIEXEC, "-n", ranks, BUILD / "tests" / f"mpi.{program.name}", *program.arguments]
            steps.append(Step(f"{program.name}.np{ranks}", 2 * program.limit_s, command, {"FULMAR_FABRIC": "verbs"}))
    return steps


def remote_steps():
    """Programs with long messages, between two ranks, in each way; and with nothing kept open in between."""
    limits = {program.name: program.limit_s for program in support.programs()}
    steps = []
    for name, settings in chosen(REMOTE_PROGRAMS, REMOTE_PROGRAMS_IN_SHORT).items():
        command = [MPIEXEC, "-n", 2, BUILD / "tests" / f"mpi.{name}"]
        steps += [Step(f"{name}.{way}", 2 * limits[name], command,
                       {"FULMAR_FABRIC": "verbs", "FULMAR_RDMA": way, **settings})
                  for way in REMOTE_WAYS if name in limits]
    if "p2p.remapped" in limits:
        steps.append(Step("p2p.remapped.unkept", 2 * limits["p2p.remapped"],
                          [MPIEXEC, "-n", 2, BUILD / "tests" / "mpi.p2p.remapped"],
                          {"FULMAR_FABRIC": "verbs", "FULMAR_KEPT_MEMORY": "0"}))
    return steps


def design_steps():
    """Programs over each design and stack."""
    names = chosen(DESIGN_PROGRAMS, DESIGN_PROGRAMS_IN_SHORT)
    return [Step(f"{name}.{design}", 240, [MPIEXEC, "-n", ranks, BUILD / "tests" / f"mpi.{name}", *arguments],
                 {"FULMAR_FABRIC": "verbs", **settings})
            for design, settings in DESIGNS.items() for name in names for ranks, arguments in [DESIGN_PROGRAMS[name]]
            if (BUILD / "tests" / f"mpi.{name}").exists()]


def study_steps():
    two_threads = TWO_THREADS_PROGRAMS if EVERY_PATH else TWO_THREADS_PROGRAMS_IN_SHORT
    short = {"FULMAR_RDMA_BYTES": "1000", "FULMAR_EAGER_BYTES": "1000"}
    steps = [Step(f"p2p.modes.{name}", 240, [MPIEXEC, "-n", 2, BUILD / "tests" / "mpi.p2p.modes"],
                  {"FULMAR_FABRIC": "verbs", **short, **settings})
             for name, settings in chosen(STUDIES, STUDIES_IN_SHORT).items()]
    for design, thread in chosen(THREADS, THREADS_IN_SHORT).items():
        program, arguments = THREAD_PROGRAMS[thread]
        steps.append(Step(f"{program}.{design}.thread_{thread}", 240,
                          [MPIEXEC, "-n", 2, BUILD / "tests" / f"mpi.{program}", *arguments],
                          {"FULMAR_FABRIC": "verbs", "FULMAR_PROGRESS_THREAD": thread, **DESIGNS[design]}))
    steps += [Step(f"{program}.{way}.two_threads", 240, [MPIEXEC, "-n", 2, BUILD / "tests" / f"mpi.{program}"],
                   {"FULMAR_FABRIC": "verbs", "FULMAR_RDMA": way, **short, **TWO_THREADS})
              for way, programs in two_threads.items() for program in programs]
    return [step for step in steps if step.command[3].exists()]


def return_steps():
    return [Step(f"{name}.{network}.np{ranks}", 120, [MPIEXEC, "-n", ranks, BUILD / "tests" / f"mpi.{name}"], settings)
            for name, counts in (RETURNS if EVERY_PATH else RETURNS_IN_SHORT).items()
            for network, settings in RETURN_NETWORKS.items() for ranks in counts]


def design_return_step():
    return Step("reentry.refused", 60, [MPIEXEC, "-n", 2, BUILD / "tests" / "mpi.session.reentry"],
                {"FULMAR_FABRIC": "verbs", "FULMAR_CHANNEL": "zerocopy"})


def one_queue_step():
    return Step("two_threads.refused", 60, [MPIEXEC, "-n", 2, BUILD / "tests" / "mpi.p2p.order"],
                {"FULMAR_FABRIC": "verbs", "FULMAR_PROGRESS_THREAD": "two"})


def layers_step():
    """The first figures of the study, as many as the time allows."""
    measure = f"{FULMAR} bench layers --quick --networks verbs --seconds 30 --html /tmp/l.html"
    return Step("layers", 300, ["sh", "-c", f"{measure} && cat /tmp/l.html"])


def all_steps():
    steps = [Step("ping", 60, [PING])] if PING.exists() else []
    steps += [Step("info", 60, [FULMAR, "info"]), Step("doctor", 60, [FULMAR, "doctor", "--json"])]
    if PROVIDER:
        steps.append(Step("provider", 300, [*PROVIDER, "--gtest_brief=1"]))
    if not LACKING:
        steps += program_steps() + remote_steps() + design_steps() + study_steps() + return_steps()
        steps += [design_return_step(), one_queue_step(), layers_step()]
    # Last, as they leave the guest without a device.
    steps += [Step("doctor.down", 60, ["sh", "-c", f"ip link set eth0 down; {FULMAR} doctor --json"]),
              Step("doctor.gone", 60, ["sh", "-c", f"rdma link delete rxe0; {FULMAR} doctor --json"])]
    return steps


class Guest(support.GuestTest):
    @classmethod
    def setUpClass(cls):
        support.prepare()
        cls.results, cls.everything = support.run_steps(all_steps(), timeout_s=TIMEOUT_S)

    def findings(self, name):
        """Of the doctor, by name. It may well fail for something else."""
        self.assertIn(name, self.results, self.everything[-3000:])
        found = json.loads(self.results[name].output)["findings"]
        return {finding["name"]: finding for finding in found}

    @unittest.skipUnless(PING.exists(), "built without libibverbs-dev")
    def test_device_moves_data(self):
        text = self.passed("ping")
        self.assertEqual(re.findall(r"^ok (.*)$", text, re.MULTILINE), list(WAYS), text)

    def test_info_shows_the_device(self):
        self.assertRegex(self.passed("info"),
                         r"(?m)^  rxe0:1 +active +RoCE, .*, eth0, MTU 4096, GID 1 ::ffff:10\.77\.0\.1 \(RoCE v2\)")

    def test_doctor_finds_the_device_in_order(self):
        found = self.findings("doctor")
        self.assertEqual(found["rxe0:1"]["verdict"], "ok", found["rxe0:1"])
        self.assertEqual(found["libibverbs"]["verdict"], "ok", found["libibverbs"])
        self.assertEqual(found["locked memory"]["verdict"], "ok", found["locked memory"])

    def test_doctor_says_what_a_port_lacks(self):
        found = self.findings("doctor.down")["rxe0:1"]
        self.assertEqual(found["verdict"], "warn", found)
        self.assertIn("ip link set eth0 up", found["remedy"])

    def test_doctor_without_a_device(self):
        found = self.findings("doctor.gone")["RDMA devices"]
        self.assertIn("none", found["found"])

    @unittest.skipUnless(PROVIDER, "this build has no provider for verbs")
    def test_provider(self):
        text = self.passed("provider")
        self.assertNotIn("SKIPPED", text)

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_programs(self):
        steps = program_steps()
        self.assertTrue(steps, "no program is listed")
        for step in steps:
            with self.subTest(program=step.name):
                self.passed(step.name)

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_long_messages_in_each_way(self):
        for step in remote_steps():
            with self.subTest(step=step.name):
                self.passed(step.name)

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_programs_over_each_design(self):
        steps = design_steps()
        self.assertTrue(steps, "no program was built")
        for step in steps:
            with self.subTest(step=step.name):
                self.passed(step.name)

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_what_the_study_changes(self):
        steps = study_steps()
        self.assertTrue(steps, "no program was built")
        for step in steps:
            with self.subTest(step=step.name):
                self.passed(step.name)

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_ranks_come_back(self):
        for step in return_steps():
            with self.subTest(step=step.name):
                self.passed(step.name)

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_nobody_comes_back_to_designs(self):
        result = self.results["reentry.refused"]
        self.assertNotEqual(result.status, 0)
        self.assertIn("leave both options out", result.output)

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_two_threads_are_woken(self):
        found = self.figures("p2p.remapped.fetch.two_threads")
        self.assertGreater(found["thread_wakeups"], 10, found)
        self.assertGreater(found["second_thread_wakeups"], 10, found)

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_two_threads_need_two_queues(self):
        result = self.results["two_threads.refused"]
        self.assertNotEqual(result.status, 0)
        self.assertIn("set FULMAR_FABRIC=verbs and FULMAR_VERBS_QUEUES=two", result.output)

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_layers_are_measured_beside_the_bare_adapter(self):
        text = self.passed("layers")
        self.assertNotIn("Left out: failed", text)
        self.assertRegex(text, r"Bare reads and writes of an adapter +(holds|is different|is undecided) here +\S")
        self.assertIn("RDMA writes</span>", text)

    def figures(self, name):
        """What rank 0 of p2p.remapped says of its adapter."""
        lines = re.findall(r"^device_(\w+) (\d+)$", self.passed(name), re.MULTILINE)
        return {word: int(number) for word, number in lines}

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_adapters_move_long_messages(self):
        for way in ("fetch", "put"):
            with self.subTest(way=way):
                found = self.figures(f"p2p.remapped.{way}")
                moved = {"fetch": "fetched_messages", "put": "put_messages"}[way]
                self.assertGreater(found[moved], 30, found)
                self.assertEqual(found["remote_retreats"], 0, found)
        found = self.figures("p2p.remapped.off")
        self.assertEqual(found["fetched_messages"] + found["put_messages"] + found["memory_opened"], 0, found)

    @unittest.skipIf(LACKING, f"verbs: {LACKING}")
    def test_memory_stays_known_to_the_adapter(self):
        kept = self.figures("p2p.remapped.fetch")
        self.assertGreater(kept["memory_hits"], 20, kept)
        unkept = self.figures("p2p.remapped.unkept")
        self.assertEqual(unkept["memory_hits"], 0, unkept)
        self.assertEqual(unkept["memory_passing"], unkept["memory_opened"], unkept)


support.main()
