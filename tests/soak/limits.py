"""What may grow in hours of steady load, and by how much.

Samples are taken at even times. The first part of a run is left out: caches fill, and the table's history reaches the length
that it is kept at. Of the rest, the median of its first third is compared with the median of its last third.
"""
import statistics

WARM_UP = 2 / 5
FEWEST_SAMPLES = 12   # after the warm-up

# name → (factor, plus): the end may be at most begin × factor + plus.
LIMITS = {
    "rss_mb": (1.15, 16),
    "open_files": (1.0, 8),
    "threads": (1.0, 4),
    "metadata_kb": (1.15, 16),
    "snapshots": (1.15, 5),
    "metadata_files": (1.15, 150),   # manifests gather until a hundred are merged
    "quiet_s": (1.5, 2),
}


def medians(samples, name):
    """The medians of the first and the last third after the warm-up."""
    values = [sample[name] for sample in samples[int(len(samples) * WARM_UP):]]
    third = max(1, len(values) // 3)
    return statistics.median(values[:third]), statistics.median(values[-third:])


def growth(samples):
    """name → (begin, end, limit), and the list of what is wrong."""
    warm = len(samples) - int(len(samples) * WARM_UP)
    if warm < FEWEST_SAMPLES:
        return {}, [f"{warm} samples after the warm-up are too few to tell growth: at least {FEWEST_SAMPLES}"]
    table, faults = {}, []
    for name, (factor, plus) in LIMITS.items():
        begin, end = medians(samples, name)
        limit = begin * factor + plus
        table[name] = (begin, end, limit)
        if end > limit:
            faults.append(f"{name} grew from {begin:g} to {end:g}, at most {limit:g} is right")
    return table, faults


def self_test():
    """A leak of each kind is noticed, and steady values are not."""
    steady = [dict.fromkeys(LIMITS, 100) for _ in range(40)]
    assert growth(steady)[1] == []
    for name in LIMITS:
        leaking = [{**sample, name: 100 + 20 * i} for i, sample in enumerate(steady)]
        assert [fault.split()[0] for fault in growth(leaking)[1]] == [name]
    assert growth(steady[:8])[1]
