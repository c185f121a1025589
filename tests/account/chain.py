"""The chain of snapshots: what each remembers of the source must go on where the one before ended (I4)."""
import io
import json

import fastavro

from judges import stores

INLINE = "frazil.ranges"


def ancestors(metadata):
    """Retained snapshots of main, oldest first."""
    by_id = {s["snapshot-id"]: s for s in metadata.get("snapshots", [])}
    chain, at = [], by_id.get(metadata.get("current-snapshot-id"))
    while at is not None:
        chain.append(at)
        at = by_id.get(at.get("parent-snapshot-id"))
    return chain[::-1]


def marks_of(snapshot):
    """(epoch, ranges, next) of a snapshot's marks, by (topic, partition)."""
    summary = snapshot["summary"]
    place = summary if INLINE in summary else _header_of(snapshot["manifest-list"])
    ranges = {(topic, int(p)): tuple(span) for topic, spans in json.loads(place["frazil.ranges"]).items() for p, span in spans.items()}
    positions = {(topic, p): offset for topic, entry in json.loads(place["frazil.positions"])["topics"].items()
                 for p, offset in enumerate(entry["next"]) if offset is not None}
    return int(summary["frazil.epoch"]), ranges, positions


def _header_of(manifest_list):
    with stores.open_file(manifest_list) as file:
        header = fastavro.reader(io.BytesIO(file.read())).metadata
    return {key: value if isinstance(value, str) else value.decode() for key, value in header.items()}


def faults_of_chain(metadata, pipeline, topic, ends):
    """Ranges that touch, epochs and positions that never go back, property and tag at the newest, the newest at the log's end. Returns the
    number of links too."""
    own = [s for s in ancestors(metadata) if s.get("summary", {}).get("frazil.pipeline") == pipeline]
    if not own:
        return 0, ["no snapshot of the pipeline among the head's ancestors"]
    faults, before, last_epoch = [], None, None
    for snapshot in own:
        where = f"snapshot {snapshot['snapshot-id']}"
        epoch, ranges, positions = marks_of(snapshot)
        if last_epoch is not None and epoch <= last_epoch:
            faults.append(f"{where}: epoch {epoch} after epoch {last_epoch}")
        if before is not None and "frazil.accepted" not in snapshot["summary"]:
            faults += [f"{where}: {fault}" for fault in _step(before, ranges, positions)]
        before, last_epoch = positions, epoch
    return len(own), faults + _names(metadata, pipeline, own[-1]) + _end(before, topic, ends)


def _step(before, ranges, after):
    faults = [f"{split} begins at {begin}, the one before ended at {before[split]}" for split, (begin, _) in ranges.items()
              if split in before and before[split] != begin]
    faults += [f"{split} ends at {end}, the positions say {after.get(split)}" for split, (_, end) in ranges.items() if after.get(split) != end]
    faults += [f"{split} moved from {was} to {after.get(split)} without a range" for split, was in before.items()
               if split not in ranges and after.get(split) != was]
    return faults


def _names(metadata, pipeline, newest):
    newest_id = newest["snapshot-id"]
    tag = metadata.get("refs", {}).get(f"frazil-{pipeline}", {}).get("snapshot-id")
    text = metadata.get("properties", {}).get(f"frazil.{pipeline}", "{}")
    faults = [f"the tag is at {tag}, the newest positions are in {newest_id}"] * (tag != newest_id)
    return faults + [f"the property does not name {newest_id}: {text[:200]}"] * (str(newest_id) not in text)


def _end(positions, topic, ends):
    return [f"{topic}/{p}: the table ends at {positions.get((topic, p))}, the log at {end}" for p, end in ends.items()
            if positions.get((topic, p), 0) != end]


def faults_of_outbox(letters, anchor, pipeline):
    """The other table: each owed entry once, in order; nothing is owed in the end. `letters` may be None."""
    key = f"frazil.{pipeline}.applied"
    applied = [int(s["summary"][key]) for s in ancestors(letters or {}) if key in s.get("summary", {})]
    faults = [f"epoch {b} was applied after epoch {a}" for a, b in zip(applied, applied[1:]) if b <= a]
    said = int((letters or {}).get("properties", {}).get(key, 0))
    if applied and applied[-1] != said:
        faults.append(f"the table says that epoch {said} is applied, its newest snapshot {applied[-1]}")
    owed = json.loads(anchor.get("properties", {}).get(f"frazil.{pipeline}.owed", "[]"))
    return len(applied), faults + [f"epoch {entry['epoch']} is still owed" for entry in owed if entry["epoch"] > said]
