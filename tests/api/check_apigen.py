#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""usage: check_apigen.py SOURCE_DIR

apigen refuses faulty tables with the place and the reason, leaves unchanged output alone, and a function
that loses its `missing` mark changes only the files that it concerns.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile


class Bench:
    def __init__(self, source, work):
        self.apigen = source / 'tools' / 'apigen'
        self.spec = work / 'spec'
        self.out = work / 'out'
        shutil.copytree(source / 'spec', self.spec)
        shutil.copytree(source / 'docs', work / 'docs')  # some are manual pages, too,
        shutil.copytree(source / 'include', work / 'include')  # and so are the comments of mpi-ext.h
        self.failures = 0

    def run(self):
        return subprocess.run([sys.executable, self.apigen, '--spec', self.spec, '--out', self.out],
                              capture_output=True, text=True)

    def expect(self, condition, what):
        if not condition:
            print(f'not so: {what}')
            self.failures += 1

    def expect_refused(self, table, line, words):
        """A table with one more line makes apigen fail and name what is wrong."""
        path = self.spec / table
        before = path.read_text()
        path.write_text(before + '\n' + line + '\n')
        result = self.run()
        self.expect(result.returncode == 1, f'{line!r} in {table} is refused')
        for word in words:
            self.expect(word in result.stderr, f'the error says {word!r}: {result.stderr!r}')
        path.write_text(before)

    def times(self):
        return {path: path.stat().st_mtime_ns for path in self.out.rglob('*') if path.is_file()}


def main():
    source = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        bench = Bench(source, pathlib.Path(work))
        bench.expect_refused('group.api', 'MPI_Send since=1.x', ['MPI_Send', 'twice'])
        bench.expect_refused('group.api', 'MPI_New since=6.0\n  a nonsense in', ['MPI_New', 'nonsense'])
        bench.expect_refused('group.api', 'MPI_New since=6.0\n  a int', ['group.api:', 'a int'])
        bench.expect_refused('group.api', 'MPI_New since=6.0\n  a int[n] in', ['MPI_New', 'n, '])
        bench.expect_refused('group.api', 'Send since=1.x', ['group.api:', 'Send'])
        bench.expect_refused('options.table', 'FULMAR_X list', ['options.table:'])
        bench.expect(bench.run().returncode == 0, 'the tables are right')
        before = bench.times()
        bench.run()
        bench.expect(bench.times() == before, 'a second run writes nothing')
        path = bench.spec / 'topo.api'
        text = path.read_text()
        name = next((line.split()[0] for line in text.splitlines() if line.endswith(' missing')), None)
        if name is None:
            path.write_text(text.replace('MPI_Cart_sub since=1.x', 'MPI_Cart_sub since=1.x missing'))
        else:
            path.write_text(text.replace(' missing', '', 1))
        bench.run()
        after = bench.times()
        changed = {file.name for file in after if after[file] != before[file]}
        bench.expect(changed == {'shims_topo.cc', 'api_coverage.inc', 'api_coverage.json', 'MPI_Cart_sub.3'},
                     f'one flipped mark changes its chapter, the coverage and its manual page only: {changed}')
        return 1 if bench.failures else 0


sys.exit(main())
