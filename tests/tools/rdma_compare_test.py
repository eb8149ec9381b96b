# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""bench/rdma/compare reads what perftest prints, takes medians, and says whether the aims are reached."""

import importlib.machinery
import importlib.util
import subprocess
import sys
import unittest

import tree

TOOL = tree.ROOT / "bench" / "rdma" / "compare"


def load():
    loader = importlib.machinery.SourceFileLoader("rdma_compare", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("rdma_compare", loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
compare = load()

LATENCY = """
 RDMA_Write Latency Test
 Dual-port       : OFF          Device         : rxe0
 local address: LID 0000 QPN 0x0011 PSN 0x2c1f1d
 #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]
 8       1000          11.20          95.31        12.87               13.05             1.2
---------------------------------------------------------------------------------------
"""
BANDWIDTH = """
 #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]
 65536      1000             0.52               0.44                 0.000839
"""
GOOD_COUNTS = {"device_rendezvous_sends": 1.0, "device_fetched_messages": 1.0, "device_single_copies": 0.0}


def figures(**changes):
    found = {"ib_write_lat": 10.0, "latency": 11.4, "ib_write_bw 65536": 100.0, "bandwidth 65536": 96.0,
             "ib_write_bw 1048576": 90.0, "bandwidth 1048576": 90.0}
    found.update(changes)
    return found


class RdmaCompareTest(tree.TreeTest):
    def test_columns_of_perftest(self):
        self.assertEqual(compare.last_row(LATENCY)[compare.TYPICAL], 12.87)
        self.assertEqual(compare.last_row(BANDWIDTH)[compare.AVERAGE_GBITS], 0.44)
        self.assertEqual(compare.last_row("Couldn't connect to 127.0.0.1:18515\n"), [])

    def test_aims_that_are_reached(self):
        lines, reached = compare.sentences(figures(), GOOD_COUNTS)
        self.assertTrue(reached, lines)
        self.assertIn("8-byte latency is 1.14 times ib_write_lat's", lines[0])
        self.assertIn("peak bandwidth is 96.0 % of ib_write_bw's", lines[1])

    def test_each_aim_can_be_missed(self):
        for changed, counts in (({"latency": 11.6}, GOOD_COUNTS), ({"bandwidth 65536": 94.0}, GOOD_COUNTS),
                                ({}, {**GOOD_COUNTS, "device_streamed_messages": 1.0}),
                                ({}, {**GOOD_COUNTS, "device_rendezvous_sends": 2.0}),
                                ({}, {**GOOD_COUNTS, "device_fetched_messages": 0.0})):
            with self.subTest(changed=changed, counts=counts):
                self.assertFalse(compare.sentences(figures(**changed), counts)[1])

    def test_a_busy_machine_is_noticed_by_the_raw_layer_alone(self):
        self.assertTrue(compare.is_busy({"ib_write_lat": 28.4, "ib_send_lat": 1527.1}))
        self.assertFalse(compare.is_busy({"ib_write_lat": 13.0, "ib_send_lat": 14.0, "latency": 16556.3}))
        self.assertFalse(compare.is_busy({"latency": 5.0}))

    def test_medians_leave_out_rounds_without_the_figure(self):
        rounds = [{"latency": 3.0}, {"latency": None}, {"latency": 1.0}, {}, {"latency": 2.0}]
        self.assertEqual(compare.median_of(rounds, "latency"), 2.0)
        self.assertIsNone(compare.median_of([{}], "latency"))

    def test_without_a_device_says_so(self):
        if compare.devices():
            self.skipTest("this host has an RDMA device")
        done = subprocess.run([TOOL], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 77, done)
        self.assertIn("no RDMA device; --guest boots one", done.stderr)


unittest.main()
