# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""tools/check_layers finds what breaks the layer law, and only that."""

import unittest

import tree


class CheckLayers(tree.TreeTest):
    def complaints(self, path, *included):
        """What the check says about a file that includes `included`; empty when it passes."""
        self.write(path, "".join(f'#include "{name}"\n' for name in included))
        run = self.run_tool("check_layers", "--root", self.root)
        self.assertEqual(run.returncode, 1 if run.stdout else 0, run.stderr)
        return run.stdout

    def test_allowed_includes_pass(self):
        self.assertEqual(self.complaints("src/device/progress/poll.cc", "device/progress/poll.h",
                                         "base/error.h", "wire/packet.h", "channel/ring.h",
                                         "match/queue.h", "fabric/network.h"), "")

    def test_upward_include_is_named_with_file_and_line(self):
        text = self.complaints("src/base/pool.cc", "base/pool.h", "wire/packet.h")
        self.assertIn('src/base/pool.cc:2: #include "wire/packet.h"', text)

    def test_only_the_named_header_of_a_layer_passes(self):
        self.assertEqual(self.complaints("src/channel/ring.h", "fabric/provider.h"), "")
        self.assertIn("channel", self.complaints("src/channel/ring.h", "fabric/shm/shm.h"))
        self.assertIn("device", self.complaints("src/device/a.h", "fabric/tcp/tcp.h"))

    def test_providers_do_not_see_each_other(self):
        self.assertEqual(self.complaints("src/fabric/shm/a.cc", "fabric/provider.h"), "")
        self.assertIn("must not see", self.complaints("src/fabric/shm/a.cc", "fabric/tcp/tcp.h"))

    def test_parts_of_mpi_keep_their_order(self):
        self.assertEqual(self.complaints("src/mpi/p2p/send.cc", "mpi/comm/comm.h"), "")
        self.assertIn("comes after", self.complaints("src/mpi/comm/comm.cc", "mpi/p2p/calls.h"))

    def test_ground_of_mpi_lies_under_its_parts(self):
        self.assertEqual(self.complaints("src/mpi/comm/comm.cc", "mpi/library.h"), "")
        self.assertIn("own headers", self.complaints("src/mpi/library.cc", "mpi/comm/comm.h"))

    def test_unknown_part_of_mpi_is_refused(self):
        self.assertIn("not in the order", self.complaints("src/mpi/misc/a.cc", "mpi/comm/comm.h"))

    def test_unknown_layer_is_refused(self):
        self.assertIn("no layer", self.complaints("src/extra/a.cc", "base/error.h"))

    def test_header_without_a_folder_is_refused(self):
        self.assertIn("names no folder", self.complaints("src/base/pool.cc", "pool.h"))

    def test_mpi_h_is_for_the_layers_that_speak_mpi(self):
        self.write("src/mpi/p2p/a.cc", "#include <mpi.h>\n")
        self.assertEqual(self.complaints("src/base/a.cc"), "")
        self.write("src/device/a.cc", "#include <mpi.h>\n")
        self.assertIn("src/device/a.cc:1", self.complaints("src/base/a.cc"))

    def test_mpiexec_is_held_to_base_and_wire(self):
        self.assertEqual(self.complaints("tools/mpiexec/main.cc", "mpiexec/options.h", "wire/node/job.h"), "")
        self.assertIn("layer mpiexec", self.complaints("tools/mpiexec/main.cc", "mpi/library.h"))

    def test_tool_may_name_its_headers_from_its_own_folder(self):
        self.write("tools/mpiexec/parse/options.h", "")
        self.assertEqual(self.complaints("tools/mpiexec/main.cc", "parse/options.h"), "")
        self.assertIn("no layer", self.complaints("tools/mpiexec/main.cc", "parse/other.h"))

    def test_unit_test_may_see_what_lies_under_its_subject(self):
        self.assertEqual(self.complaints("tests/unit/channel/ring_test.cc", "channel/ring.h",
                                         "fabric/fake/fake.h"), "")
        self.assertEqual(self.complaints("tests/unit/mpi/op_test.cc", "mpi/op/op.h"), "")
        self.assertIn("comes after", self.complaints("tests/unit/mpi/op/op_test.cc", "mpi/p2p/calls.h"))
        self.assertIn("layer base", self.complaints("tests/unit/base/a_test.cc", "mpi/library.h"))

    def test_way_through_other_headers_is_named_with_its_chain(self):
        self.write("src/fabric/tcp/tcp.h", "")
        self.write("src/device/device.h", '#include "device/rails.h"\n')
        self.write("src/device/rails.h", '#include "base/error.h"\n#include "fabric/tcp/tcp.h"\n')
        text = self.complaints("src/mpi/p2p/send.cc", "mpi/p2p/send.h", "device/device.h")
        self.assertIn("src/mpi/p2p/send.cc:2: reaches fabric/tcp, which no file of mpi may: "
                      "device/device.h -> device/rails.h -> fabric/tcp/tcp.h", text)
        self.assertIn("src/device/device.h:1: reaches fabric/tcp", text)

    def test_way_to_what_is_allowed_passes(self):
        self.write("src/fabric/network.h", '#include "fabric/provider.h"\n')
        self.write("src/fabric/provider.h", "")
        self.write("src/device/device.h", '#include "fabric/network.h"\n')
        self.assertEqual(self.complaints("src/mpi/p2p/send.cc", "device/device.h"), "")

    def test_headers_that_include_each_other_end_the_search(self):
        self.write("src/device/one.h", '#include "device/two.h"\n')
        self.write("src/device/two.h", '#include "device/one.h"\n')
        self.assertEqual(self.complaints("src/mpi/p2p/send.cc", "device/one.h"), "")

    def test_lower_layers_may_reach_what_upper_ones_may_not(self):
        self.write("src/fabric/tcp/tcp.h", "")
        self.write("src/runtime/network/networks.h", '#include "fabric/tcp/tcp.h"\n')
        self.assertEqual(self.complaints("src/runtime/network/networks.cc", "runtime/network/networks.h"), "")

    def test_broken_law_is_an_error_of_its_own(self):
        law = self.write("law.txt", "layer base\n")
        run = self.run_tool("check_layers", "--root", self.root, "--law", law)
        self.assertEqual(run.returncode, 2)
        self.assertIn("line 1", run.stderr)


if __name__ == "__main__":
    unittest.main()
