# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 the Fulmar authors
"""What `bench/compare` makes of result files: medians over rounds, tables, and where Fulmar is behind."""

import statistics

COLLECTIVE_RANKS = [2, 4, 8]
INIT_RANKS = 4


NEAR, FAR, MOVED, ONE_CORE, UNKNOWN = "near", "far", "moved", "one core", "unknown"
# What stands above the tables of runs that were made so; the others are counted only.
PHASES = {NEAR: "cores near each other", FAR: "cores far from each other", UNKNOWN: "distance of the cores not known"}
LIKE = 1.6  # times as slow or as fast as usual: the same distance
NEAR_MOST_NS = 160  # no machine's cores take longer for a cache line while they share a cache


class Distances:
    """Tells runs with cores near each other from those with cores far from each other, by probes of a cache line (ns).

    A virtual machine's host moves its cores: for seconds a cache line takes four times as long as before; or both are
    threads of one core for a while.
    """

    def __init__(self, lines):
        near = sorted(line for line in lines if 0 < line <= NEAR_MOST_NS)
        self.usual = near[len(near) // 2] if near else 0  # 0: no probe found the cores near

    def of_line(self, line):
        if not line:
            return UNKNOWN
        if not self.usual or line > self.usual * LIKE:
            return FAR
        return NEAR if line >= self.usual / LIKE else ONE_CORE

    def of_run(self, lines):
        before, after = (self.of_line(line) for line in lines)
        return before if before == after else MOVED


class Samples:
    """The figures of one library over all rounds, of all runs or of those at one distance of the cores."""

    def __init__(self, label):
        self.label = label
        self.runs = []  # (job, nanoseconds of a cache line before and after the run, result)
        self.about = {}
        self.points = {}
        self.init = {}

    def at(self, distances, phase):
        """The same library with the runs of that phase only."""
        found = Samples(self.label)
        found.runs = [run for run in self.runs if distances.of_run(run[1]) == phase]
        for _, _, result in found.runs:
            found.add(result)
        return found

    def add(self, result):
        self.about = {key: result[key] for key in ("library", "processor", "kernel", "cores", "time")}
        if result["init_ms"]:
            self.init.setdefault(result["init_ranks"], []).append(result["init_ms"])
        for series in result["series"]:
            for point in series["points"]:
                key = (series["test"], series["ranks"], point["bytes"])
                self.points.setdefault(key, []).append(point)

    def merged(self):
        """One result file with medians over the rounds."""
        series = {}
        for (test, ranks, size), points in sorted(self.points.items()):
            merged = {"bytes": size}
            for field in ("median_ns", "low_ns", "high_ns"):
                merged[field] = statistics.median(p[field] for p in points)
            for field in ("batches", "operations"):
                merged[field] = sum(p[field] for p in points)
            series.setdefault((test, ranks), []).append(merged)
        init_ranks = INIT_RANKS if INIT_RANKS in self.init else max(self.init, default=0)
        return {
            "format": "fulmar-bench", "version": 1, "label": self.label, **self.about,
            "init_ranks": init_ranks,
            "init_ms": statistics.median(self.init[init_ranks]) if self.init else 0,
            "series": [{"test": t, "ranks": r, "points": p} for (t, r), p in series.items()],
        }

    def values(self, key):
        return [p["median_ns"] for p in self.points.get(key, [])]

    def value(self, key):
        values = self.values(key)
        return statistics.median(values) if values else None


def size_text(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


# What a table shows: title, test, the figure from nanoseconds and bytes.
POINT_TABLES = [
    ("latency, one way, us", "latency", lambda ns, size: ns / 1000),
    ("message rate, million a second", "bandwidth", lambda ns, size: 1000 / ns),
    ("bandwidth, MB/s", "bandwidth", lambda ns, size: size * 1000 / ns),
    ("bandwidth both ways, MB/s", "bibw", lambda ns, size: size * 1000 / ns),
]
RATE_LIMIT = 4096


def figure(value):
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}" if value >= 0.1 else f"{value:.3f}"


def best_peer(samples, key):
    """Label and nanoseconds of the fastest peer at that point."""
    known = [(s.value(key), s.label) for name, s in samples.items() if name not in ("fulmar", "raw")]
    known = [(ns, label) for ns, label in known if ns]
    return min(known) if known else (None, None)


def row(samples, names, key, convert):
    """The cells of all libraries at that point, and how far Fulmar is ahead of the best other."""
    values = [samples[name].value(key) for name in names]
    cells = [figure(convert(ns, key[2]) if ns else None) for ns in values]
    ours = samples["fulmar"].value(key) if "fulmar" in samples else None
    peer, _ = best_peer(samples, key)
    return cells + [f"{peer / ours:.2f}x" if ours and peer else "-"]


def sizes_of(samples, test, ranks):
    return sorted({k[2] for s in samples.values() for k in s.points if k[0] == test and k[1] == ranks})


def point_tables(samples, names):
    head = ["size", *[samples[n].label for n in names], "ahead of best"]
    for title, test, convert in POINT_TABLES:
        sizes = sizes_of(samples, test, 2)
        if title.startswith("message rate"):
            sizes = [size for size in sizes if size <= RATE_LIMIT]
        yield title, head, [[size_text(size), *row(samples, names, (test, 2, size), convert)] for size in sizes]


def collective_table(samples, names):
    rows = []
    for test, size in (("barrier", 0), ("allreduce", 8)):
        for ranks in COLLECTIVE_RANKS:
            if not any(sample.points.get((test, ranks, size)) for sample in samples.values()):
                continue
            bare = samples["raw"].value(("raw-barrier", ranks, 0))
            cells = row(samples, names, (test, ranks, size), lambda ns, _: ns / 1000)
            rows.append([f"{test}, {ranks} ranks", *cells, figure(bare / 1000 if bare else None)])
    head = ["call", *[samples[n].label for n in names], "ahead of best", "bare barrier"]
    return "barrier and 8-byte allreduce, us a call", head, rows


OTHER_COLLECTIVES = ["bcast", "reduce", "allreduce", "allgather", "alltoall", "gather", "scatter", "reduce_scatter"]
COLLECTIVE_FORMS = [
    "scan", "exscan", "gatherv", "scatterv", "allgatherv", "alltoallv", "alltoallw", "reduce_scatterv",
    "ibarrier", "ibcast", "ireduce", "iallreduce", "iallgather", "ialltoall", "igather", "iscatter", "ireduce_scatter",
    "iscan", "igatherv", "iscatterv", "iallgatherv", "ialltoallv",
    "barrier_init", "bcast_init", "reduce_init", "allreduce_init", "allgather_init", "alltoall_init", "gather_init",
    "scatter_init", "neighbor_allgather", "neighbor_alltoall", "ineighbor_alltoall",
    "reduce_in_place", "allreduce_in_place", "allgather_in_place", "alltoall_in_place",
    "inter_bcast", "inter_allreduce", "inter_allgather", "inter_alltoall"]


def more_tables(samples, names):
    """Of collectives at several sizes and of messages that are not one run: a table for each test and number of ranks."""
    points = sorted({key for sample in samples.values() for key in sample.points})
    head = ["size", *[samples[n].label for n in names], "ahead of best"]
    for test in [*OTHER_COLLECTIVES, *COLLECTIVE_FORMS, "strided", "face-x", "face-y", "face-z"]:
        for ranks in sorted({r for t, r, _ in points if t == test}):
            sizes = sizes_of(samples, test, ranks)
            if test == "allreduce" and sizes == [8]:
                continue  # in the short table
            rows = [[size_text(size), *row(samples, names, (test, ranks, size), lambda ns, _: ns / 1000)] for size in sizes]
            yield f"{test}, {ranks} ranks, us", head, rows


ONE_SIDED = ["put", "get", "accumulate", "put-own", "get-own", "accumulate-own"]
ONE_SIDED_BANDWIDTH = ["put-bw", "get-bw", "put-bibw"]
ONE_SIDED_8 = ["fetch-and-op", "compare-and-swap", "fetch-and-op-own", "put-busy", "lock"]


def one_sided_tables(samples, names):
    """Operations on windows: a table for each test that has sizes, and one for those of 8 bytes."""
    head = ["size", *[samples[n].label for n in names], "ahead of best"]
    for test in [*ONE_SIDED, *ONE_SIDED_BANDWIDTH]:
        unit, convert = "us", lambda ns, _: ns / 1000
        if test in ONE_SIDED_BANDWIDTH:
            unit, convert = "MB/s", lambda ns, size: size * 1000 / ns
        rows = [[size_text(size), *row(samples, names, (test, 2, size), convert)] for size in sizes_of(samples, test, 2)]
        yield f"{test}, {unit}", head, rows
    known = sorted({key for s in samples.values() for key in s.points if key[0] in ONE_SIDED_8},
                   key=lambda key: (ONE_SIDED_8.index(key[0]), key))
    rows = [[f"{key[0]}, {key[1]} ranks", *row(samples, names, key, lambda ns, _: ns / 1000)] for key in known]
    yield "one-sided, 8 bytes, us", ["operation", *head[1:]], rows


def init_table(samples, names):
    rows = []
    for count in sorted({r for n in names for r in samples[n].init}):
        times = [samples[n].init.get(count) for n in names]
        rows.append([f"{count} ranks", *[figure(statistics.median(t)) if t else "-" for t in times]])
    return "MPI_Init, ms, slowest rank", ["", *[samples[n].label for n in names]], rows


def raw_table(samples):
    rows = []
    for test, ranks, size in sorted(samples["raw"].points):
        ns = samples["raw"].value((test, ranks, size))
        what = f"{test}, {ranks} processes" if test == "raw-barrier" else test
        rows.append([what, size_text(size), figure(ns), figure(size * 1000 / ns) if size >= 1024 else ""])
    return "bare machine", ["what", "size", "ns", "MB/s"], rows


def tables(samples, names):
    """All tables as (title, head, rows); those without rows are left out."""
    found = [*point_tables(samples, names), collective_table(samples, names), *more_tables(samples, names),
             *one_sided_tables(samples, names),
             init_table(samples, names),
             raw_table(samples)]
    return [table for table in found if table[2]]


def text_table(title, head, rows):
    widths = [max(len(str(line[i])) for line in [head, *rows]) for i in range(len(head))]
    lines = ["  ".join(str(cell).rjust(width) for cell, width in zip(line, widths)) for line in [head, *rows]]
    return "\n".join([title, *["  " + line for line in lines]])


def markdown_table(title, head, rows):
    lines = [head, ["---", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join([f"**{title}**", "", *["| " + " | ".join(map(str, line)) + " |" for line in lines]])


AGREED = 0.75  # of the runs of both must agree, or it is undecided who is ahead


def is_faster(one, other):
    """Whether most runs of one library took less time than the usual run of the other, and the other way round."""
    middle, other_middle = statistics.median(one), statistics.median(other)
    wins = sum(ns < other_middle for ns in one) / len(one)
    losses = sum(ns > middle for ns in other) / len(other)
    return wins >= AGREED and losses >= AGREED


def standing(samples):
    """Points at which Fulmar is ahead of the best peer, behind it, and those at which runs differ too much to say."""
    ahead, behind, undecided = [], [], []
    ours = samples["fulmar"]
    for key in sorted(ours.points):
        peer, label = best_peer(samples, key)
        if not peer:
            continue
        theirs = next(s for s in samples.values() if s.label == label).values(key)
        if is_faster(ours.values(key), theirs):
            ahead.append(key)
        elif is_faster(theirs, ours.values(key)):
            behind.append(key)
        else:
            undecided.append(key)
    return ahead, behind, undecided


def lines_of(samples, what, keys):
    lines = []
    for key in keys:
        test, ranks, size = key
        peer, label = best_peer(samples, key)
        ratio = samples["fulmar"].value(key) / peer
        lines.append(f"{what}: {test} at {ranks} ranks, {size_text(size)}: {ratio:.2f} times the time of {label}")
    return lines


def aims_of_collectives(samples):
    """Where ranks share cores, up to 1 KiB 1.5 times as fast as the best peer."""
    lines = []
    for key in sorted(samples["fulmar"].points):
        test, ranks, size = key
        peer, label = best_peer(samples, key)
        ahead = peer / samples["fulmar"].value(key) if peer else 0
        if test in OTHER_COLLECTIVES + ["barrier"] and ranks > 2 and size <= 1024 and peer and 1 <= ahead < 1.5:
            lines.append(f"{test} at {ranks} ranks, {size_text(size)}: {ahead:.2f} times as fast as {label}; the aim is 1.5")
    return lines


SHORT_LATENCY = 1024  # bytes, the longest message whose latency has an aim
BANDWIDTH_FROM = 4096


def over(one, other):
    return one / other if one and other else None


def ratios(*pairs):
    """`1.05 times that of a bare socket and 0.90 times that of MPICH`; what was not measured is left out."""
    return " and ".join(f"{ratio:.2f} times that of {whose}" for ratio, whose in pairs if ratio)


def missed(pairs, holds):
    return any(not holds(ratio, whose) for ratio, whose in pairs if ratio)


def aims_of_network(samples):
    """Against a bare TCP connection and the best peer: latency, rate and bandwidth, and each size that misses its aim."""
    ours, raw = samples["fulmar"], samples["raw"]
    bare = "a bare socket"
    lines = []
    for size in (s for s in sizes_of(samples, "latency", 2) if 0 < s <= SHORT_LATENCY):
        mine, (peer, label) = ours.value(("latency", 2, size)), best_peer(samples, ("latency", 2, size))
        pairs = [(over(mine, raw.value(("raw-socket", 2, size))), bare), (over(mine, peer), label)]
        if ratios(*pairs) and (size == 8 or missed(pairs, lambda r, whose: r <= (1.15 if whose == bare else 1))):
            lines.append(f"{size_text(size)} latency is {ratios(*pairs)}; the aims are 1.15 and 1 at most")
    rate, (peer, label) = ours.value(("bandwidth", 2, 8)), best_peer(samples, ("bandwidth", 2, 8))
    if rate and peer:
        lines.append(f"8-byte messages: {peer / rate:.2f} times the rate of {label}; the aim is 3")
    for size in (s for s in sizes_of(samples, "bandwidth", 2) if s >= BANDWIDTH_FROM):
        mine, (peer, label) = ours.value(("bandwidth", 2, size)), best_peer(samples, ("bandwidth", 2, size))
        pairs = [(over(raw.value(("raw-socket-stream", 2, size)), mine), bare), (over(peer, mine), label)]
        shown = size in (BANDWIDTH_FROM, 1 << 20)
        if ratios(*pairs) and (shown or missed(pairs, lambda r, whose: r >= (0.95 if whose == bare else 1))):
            lines.append(f"bandwidth at {size_text(size)} is {ratios(*pairs)}; the aims are 0.95 and 1 at least")
    return lines


def aims(samples):
    """Lines for what Fulmar aims at beyond being ahead, with the measured value."""
    ours, raw = samples["fulmar"], samples["raw"]
    if any(test == "raw-socket" for test, _, _ in raw.points):
        return aims_of_network(samples)
    lines = []
    latency = ours.value(("latency", 2, 8))
    for name in ("raw-cache-line", "raw-cache-line-pause"):
        bare = raw.value((name, 2, 8))
        if latency and bare:
            lines.append(f"8-byte latency is {name} ({bare:.0f} ns) plus {latency - bare:.0f} ns; the aim is plus 45 at most")
    for size in (1 << 18, 1 << 19, 1 << 20):
        mine, (peer, label) = ours.value(("bandwidth", 2, size)), best_peer(samples, ("bandwidth", 2, size))
        if mine and peer:
            lines.append(f"bandwidth at {size_text(size)} is {peer / mine:.2f} times that of {label}; the aim is 1.5")
    for test, size in (("barrier", 0), ("allreduce", 8)):
        mine, bare = ours.value((test, 8, size)), raw.value(("raw-barrier", 8, 0))
        if mine and bare:
            lines.append(f"{test} of 8 ranks takes {mine / bare:.2f} times the bare barrier; the aim is 1.5 at most")
    lines += aims_of_collectives(samples)
    if INIT_RANKS in ours.init:
        lines.append(f"MPI_Init of {INIT_RANKS} ranks takes {statistics.median(ours.init[INIT_RANKS]):.2g} ms; "
                     "the aim is under 10")
    return lines


def verdict(samples):
    """Closing lines: how many points are ahead, behind and undecided, those that are not ahead, and the further aims."""
    if "fulmar" not in samples or not samples["fulmar"].points:
        return ["Fulmar was not measured."]
    ahead, behind, undecided = standing(samples)
    total = len(ahead) + len(behind) + len(undecided)
    return [f"Fulmar is ahead of the best peer at {len(ahead)} of {total} points, behind at {len(behind)}; undecided: "
            f"{len(undecided)}.", *lines_of(samples, "not ahead", behind), *lines_of(samples, "undecided", undecided),
            *aims(samples)]


def measured(samples):
    """Whether Fulmar was."""
    return "fulmar" in samples and bool(samples["fulmar"].runs)


def by_phase(samples):
    """(phase, samples of its runs) where Fulmar has some, or, if it was not measured at all, another library."""
    lines = [line for s in samples.values() for _, ends, _ in s.runs for line in ends]
    distances = Distances(lines)
    for phase in PHASES:
        found = {name: sample.at(distances, phase) for name, sample in samples.items()}
        if any(sample.points for name, sample in found.items() if name == "fulmar" or (name != "raw" and not measured(samples))):
            yield phase, found


def runs_text(samples):
    """How many runs of each library were made in which phase."""
    distances = Distances([line for s in samples.values() for _, ends, _ in s.runs for line in ends])
    parts = []
    for sample in samples.values():
        counts = {}
        for _, ends, _ in sample.runs:
            phase = distances.of_run(ends)
            counts[phase] = counts.get(phase, 0) + 1
        if counts:
            parts.append(f"{sample.label} " + ", ".join(f"{count} {phase}" for phase, count in counts.items()))
    usual = f"; near: a cache line takes about {distances.usual:.0f} ns" if distances.usual else ""
    return "Runs: " + "; ".join(parts) + usual


def print_all(samples, names):
    print("\n" + runs_text(samples))
    for phase, found in by_phase(samples):
        print(f"\n== {PHASES[phase]}")
        for table in tables(found, names):
            print("\n" + text_table(*table))
        print("\n" + "\n".join(verdict(found)))


def markdown(samples, names, commit):
    """The tables for docs/measured.md; how many points are ahead, behind and undecided comes first."""
    about = next(s.about for _, found in by_phase(samples) for s in found.values() if s.about)
    lines = [f"Commit {commit}; {about['processor']}, {about['cores']} cores, {about['kernel']}; {about['time']}. "
             f"{runs_text(samples)}.", ""]
    phases = list(by_phase(samples))
    lines += [f"* {PHASES[phase]}: {verdict(found)[0]}" for phase, found in phases] + [""]
    label_of = {name: next((f[name].about["library"] for _, f in phases if f[name].about), "not measured")
                for name in names}
    lines += [f"* {samples[name].label}: {label_of[name]}" for name in names]
    for phase, found in phases:
        lines += ["", f"### {PHASES[phase].capitalize()}"]
        for table in tables(found, names):
            lines += ["", markdown_table(*table)]
        lines += ["", *[f"* {line}" for line in verdict(found)]]
    return "\n".join(lines) + "\n"
