# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""Builds Boost.MPI and Boost.Serialization and runs Boost.MPI's own tests.

usage: run.py [--ranks N...]     (default: 2 4, and the numbers that each test asks for)

BOOST_SOURCE names a folder with Boost's sources (1.74 or later; `apt-get source boost1.74` has them), with the headers in boost or in
libs/*/include. Which tests there are, and on how many ranks, is read from Boost's Jamfile; where that lists several numbers, a
test runs on those that are asked for, too. Numbers above 24 are left out.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import sources  # noqa: E402
import support  # noqa: E402

TEST = re.compile(r"^ *\[ *mpi-test +(\S+)(?: *: *(\S*))?(?: *: *)*([\d ]*)\]", re.M)
USUAL = [1, 2, 7]  # where the Jamfile says nothing
MOST = 24


def tests(source):
    """(name, source file, numbers of ranks) of each test."""
    jamfile = (source / "libs" / "mpi" / "test" / "Jamfile.v2").read_text()
    for name, file, ranks in TEST.findall(jamfile):
        file = file if file.endswith(".cpp") else f"{name}.cpp"
        yield name, f"libs/mpi/test/{file}", [int(word) for word in ranks.split()] or USUAL


def library_files(source):
    """What Boost's own builds make the two libraries of, without wide characters and Python."""
    of_mpi = re.search(r"lib boost_mpi\s*:(.*?):", (source / "libs/mpi/build/Jamfile.v2").read_text(), re.S)[1].split()
    serialization = sorted(file.name for file in (source / "libs/serialization/src").glob("*.cpp"))
    wide = re.compile("wi|wo|xml_wgrammar|codecvt|utf8|stl_port")
    return [f"libs/mpi/src/{name}" for name in of_mpi] + [
        f"libs/serialization/src/{name}" for name in serialization if not wide.search(name)]


def makefile(source):
    """A makefile of the library and all tests."""
    folders = [source, *source.glob("libs/*/include"), *source.glob("libs/numeric/*/include")]
    includes = " ".join(f"-isystem {folder}" for folder in folders)
    objects = " ".join(file.replace(".cpp", ".o") for file in library_files(source))
    lines = [f"CXXFLAGS = -std=c++14 -O0 -w {includes}", f"all: {' '.join(name for name, _, _ in tests(source))}",
             f"boost.a: {objects}", "\tar rcs $@ $^", "%.o: %.cpp", "\tmpicxx $(CXXFLAGS) -c $< -o $@"]
    for name, file, _ in tests(source):
        lines += [f"{name}: {file} boost.a", "\tmpicxx $(CXXFLAGS) $< boost.a -o $@"]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4])
    arguments = parser.parse_args()
    source = sources.folder("BOOST_SOURCE", "Boost", "libs/mpi/test/Jamfile.v2")
    sources.needs("make")
    write = f"cat >Makefile <<'END'\n{makefile(source)}END"
    built = sources.build("boost_mpi", source, [["sh", "-c", write], ["make", "-j2"]], 3000,
                          parts=("libs/mpi", "libs/serialization"))
    table = sources.Table()
    for name, _, numbers in tests(source):
        wanted = set(numbers) | (set(arguments.ranks) if len(numbers) > 1 else set())
        for ranks in sorted(number for number in wanted if number <= MOST):
            status, output, seconds = support.mpiexec(ranks, [built / name], 120, cwd=built)
            table.add(f"{name} {ranks} ranks", f"exit status {status}" if status else "", seconds, output)
    return table.close()


if __name__ == "__main__":
    sys.exit(main())
