# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds ParMETIS and runs its own test of all partitioners, which computes each cut again.

usage: run.py [--ranks N...]     (default: 2 4)

PARMETIS_SOURCE, METIS_SOURCE and GKLIB_SOURCE name folders with the sources (as in the repositories of KarypisLab). CMake has to be
installed. The graph is a cube of points that is made here.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

EDGE = 14  # points along an edge of the cube
LEAST_CUTS = 40  # that are compared in a run
ORDERING = "1 7 0 1 1 1 1 1.05".split()  # in parallel; a seed; no debugging; what only the other orderings use


def build():
    """The folder with the programs."""
    source = sources.folder("PARMETIS_SOURCE", "ParMETIS", "programs/ptest.c")
    metis = sources.folder("METIS_SOURCE", "METIS", "libmetis/kmetis.c")
    gklib = sources.folder("GKLIB_SOURCE", "GKlib", "include/GKlib.h")
    sources.needs("cmake", "make")
    sizes = "sed -i '1i #define IDXTYPEWIDTH 32\\n#define REALTYPEWIDTH 32' include/metis.h"
    commands = []
    for name, folder in (("gklib", gklib), ("metis", metis)):
        commands.append(["cp", "-r", folder, name])
        if name == "metis":
            commands.append(["sh", "-c", f"cd metis && {sizes} && mkdir -p build/xinclude && cp include/*.h build/xinclude && "
                                         "cp include/CMakeLists.txt build/xinclude"])
        commands += cmake(name, name)
    commands += cmake(".", "parmetis")
    return sources.build("parmetis", source, commands)


def cmake(folder, name):
    """The commands that build a folder and install it beside the others."""
    root = '-DGKLIB_PATH="$PWD/install" -DMETIS_PATH="$PWD/install" -DCMAKE_INSTALL_PREFIX="$PWD/install"'
    configure = (f'cmake -S {folder} -B {name}-build -DCMAKE_C_COMPILER=mpicc -DCMAKE_C_FLAGS="-O2 -w" '
                 f"-DCMAKE_POLICY_VERSION_MINIMUM=3.5 {root}")
    return [["sh", "-c", configure], ["cmake", "--build", f"{name}-build", "-j2", "--target", "install"]]


def number(x, y, z):
    return (z * EDGE + y) * EDGE + x


def neighbours(x, y, z):
    """Of a point of the cube."""
    for dx, dy, dz in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)):
        if all(0 <= at < EDGE for at in (x + dx, y + dy, z + dz)):
            yield number(x + dx, y + dy, z + dz)


def make_graph(folder):
    """Files of the graph and its coordinates."""
    points = [(x, y, z) for z in range(EDGE) for y in range(EDGE) for x in range(EDGE)]
    edges = 3 * EDGE * EDGE * (EDGE - 1)
    lines = [f"{len(points)} {edges}"]
    lines += [" ".join(str(at + 1) for at in neighbours(*point)) for point in points]
    (folder / "cube.graph").write_text("\n".join(lines) + "\n")
    (folder / "cube.xyz").write_text("".join(f"{x}.0 {y}.0 {z}.0\n" for x, y, z in points))
    return [folder / "cube.graph", folder / "cube.xyz"]


def judge(status, output):
    """What is wrong with a run; an empty text if nothing is."""
    if status != 0:
        return f"exit status {status}"
    wrong = re.findall(r"^.*\[ERROR:.*", output, re.M)
    if wrong:
        return f"{len(wrong)} cuts are not what was reported: {wrong[0]}"
    right = output.count("[OK:")
    return "" if right >= LEAST_CUTS else f"only {right} cuts were compared"


def judge_order(status, file):
    """The same of an ordering, which has to have each vertex once."""
    if status != 0:
        return f"exit status {status}"
    order = sorted(int(word) for word in file.read_text().split()) if file.exists() else []
    return "" if order == list(range(EDGE**3)) else "the order is not a permutation"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    arguments = parser.parse_args()
    built = build()
    files = make_graph(built)
    programs = built / "install" / "bin"
    table = sources.Table()
    for ranks in arguments.ranks:
        status, output, seconds = support.mpiexec(ranks, [programs / "pm_ptest", *files], 300)
        cuts = output.count("[OK:")
        table.add(f"pm_ptest {ranks} ranks, {cuts} cuts", judge(status, output), seconds, output)
        status, output, seconds = support.mpiexec(ranks, [programs / "pm_pometis", files[0], *ORDERING], 300)
        order = files[0].with_name(f"{files[0].name}.order.{ranks}")
        table.add(f"pm_pometis {ranks} ranks", judge_order(status, order), seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
