# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""The figures of `bench/files/compare` on one file system: nanoseconds of each library at each point, by rounds."""

import json
import statistics

AGREED = 0.75  # of the rounds must agree, or it is undecided who is ahead
PEERS = ("mpich", "openmpi", "intel")


class Figures:
    """What was measured: rounds[library][(test, ranks, bytes)] is a list of nanoseconds per operation."""

    def __init__(self):
        self.rounds = {}
        self.labels = {}
        self.about = {}
        self.lines = []  # nanoseconds of a cache line after each round

    def add(self, library, result):
        self.labels[library.name] = library.label
        self.about[library.name] = {key: result.get(key, "") for key in ("library", "processor", "kernel", "cores", "time")}
        mine = self.rounds.setdefault(library.name, {})
        for series in result["series"]:
            for point in series["points"]:
                mine.setdefault((series["test"], series["ranks"], point["bytes"]), []).append(point["median_ns"])

    def save(self, file):
        rounds = {name: [[*key, values] for key, values in sorted(points.items())] for name, points in self.rounds.items()}
        content = {"rounds": rounds, "labels": self.labels, "about": self.about, "lines": self.lines}
        file.write_text(json.dumps(content, indent=1) + "\n")

    @staticmethod
    def load(file):
        figures = Figures()
        if file.exists():
            content = json.loads(file.read_text())
            figures.labels, figures.about, figures.lines = content["labels"], content["about"], content["lines"]
            figures.rounds = {name: {tuple(row[:3]): row[3] for row in rows} for name, rows in content["rounds"].items()}
        return figures

    def value(self, name, key):
        values = self.rounds.get(name, {}).get(key)
        return statistics.median(values) if values else None

    def names(self):
        return [name for name in ("fulmar", *PEERS, "raw") if name in self.rounds]

    def keys(self, test, ranks):
        return sorted({key for points in self.rounds.values() for key in points if key[:2] == (test, ranks)})

    def tests(self):
        """(test, ranks) in the order in which they were measured."""
        return list(dict.fromkeys(key[:2] for name in self.names() for key in self.rounds[name]))

    def best_peer(self, key):
        known = [(self.value(name, key), name) for name in PEERS if self.value(name, key)]
        return min(known) if known else (None, None)

    def lead(self, key):
        """How many times as fast as the best peer; None where one of them is missing."""
        ours, (peer, _) = self.value("fulmar", key), self.best_peer(key)
        return peer / ours if ours and peer else None

    def verdict(self, key):
        """'ahead', 'behind' or 'undecided'."""
        lead = self.lead(key)
        if lead is None:
            return ""
        _, name = self.best_peer(key)
        pairs = list(zip(self.rounds["fulmar"][key], self.rounds[name][key]))
        wins = sum(ours < theirs for ours, theirs in pairs)
        if max(wins, len(pairs) - wins) < AGREED * len(pairs):
            return "undecided"
        return "ahead" if lead > 1 else "behind"

    def points(self):
        return [key for test, ranks in self.tests() for key in self.keys(test, ranks) if self.verdict(key)]
