package frazil.checker;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.avro.generic.GenericRecord;
import org.apache.iceberg.TableMetadata;

/**
 * All snapshots of a table: manifest lists, the arithmetic of summaries, and the step from parent to
 * child. Each manifest and each data file is looked into once, however many snapshots hold it.
 */
final class SnapshotCheck {
  /** The live files of a snapshot, and what the snapshot itself added and deleted. */
  private static final class Content {
    final List<FileEntry> live = new ArrayList<>();
    final List<FileEntry> added = new ArrayList<>();
    final List<FileEntry> deleted = new ArrayList<>();
    final Set<String> partitions = new HashSet<>();
  }

  private final Report report;
  private final TableMetadata table;
  private final JsonNode root;
  private final Map<String, ManifestCheck> manifests = new HashMap<>();
  private final Map<Long, Content> contents = new HashMap<>();
  private final Set<String> checkedFiles = new HashSet<>();
  private final DataFileCheck dataFiles;

  SnapshotCheck(Report report, TableMetadata table, JsonNode root) {
    this.report = report;
    this.table = table;
    this.root = root;
    this.dataFiles = new DataFileCheck(report, table);
  }

  void check() {
    List<JsonNode> snapshots = new ArrayList<>();
    root.path("snapshots").forEach(snapshots::add);
    snapshots.sort(Comparator.comparingLong(s -> s.path("sequence-number").asLong()));
    for (JsonNode snapshot : snapshots) {
      String in = "snapshot " + snapshot.path("snapshot-id");
      try {
        checkSnapshot(snapshot, in);
      } catch (Exception | LinkageError e) {
        report.problem("SNAPSHOT_UNREADABLE", in, e.toString());
      }
    }
  }

  /** Rows in the live data files of a snapshot; -1 when it has delete files or is unknown. */
  long liveRecords(long snapshotId) {
    Content content = contents.get(snapshotId);
    if (content == null || content.live.stream().anyMatch(e -> e.content != 0)) {
      return -1;
    }
    return content.live.stream().mapToLong(e -> e.records).sum();
  }

  private void checkSnapshot(JsonNode snapshot, String in) throws Exception {
    String location = snapshot.path("manifest-list").asText();
    if (!report.expect(LocalFiles.exists(location), "MANIFEST_LIST_MISSING", in, "no such file: " + location)) {
      return;
    }
    String list = LocalFiles.name(location);
    AvroFile file = AvroFile.read(location);
    report.count("manifest_lists", 1);
    checkListHeader(file, snapshot, list);
    new AvroLayout(report, list).checkManifestList(file.schema);
    Content content = new Content();
    Set<String> paths = new HashSet<>();
    for (GenericRecord line : file.records) {
      String path = AvroFile.text(line, "manifest_path");
      report.expect(paths.add(path), "MANIFEST_TWICE", list, "manifest stands twice: " + path);
      checkLine(line, snapshot, list, content);
    }
    ManifestCheck.expectDistinct(report, in, content.live);
    contents.put(snapshot.path("snapshot-id").asLong(), content);
    checkStep(snapshot, content, in);
    checkSummary(snapshot, content, in);
  }

  private void checkListHeader(AvroFile file, JsonNode snapshot, String list) {
    expectHeader(file, "snapshot-id", snapshot.path("snapshot-id").asText(), list);
    expectHeader(file, "sequence-number", snapshot.path("sequence-number").asText(), list);
    expectHeader(file, "format-version", String.valueOf(table.formatVersion()), list);
    JsonNode parent = snapshot.path("parent-snapshot-id");
    String found = file.header("parent-snapshot-id");
    if (parent.isIntegralNumber()) {
      expectHeader(file, "parent-snapshot-id", parent.asText(), list);
    } else {
      report.expect(found == null || found.equals("null"), "MANIFEST_LIST_HEADER", list,
          "parent-snapshot-id is " + found + ", the snapshot has none");
      report.expectOfOwnWriter(found != null, "MANIFEST_LIST_HEADER", list, "parent-snapshot-id is missing");
    }
  }

  private void expectHeader(AvroFile file, String key, String value, String list) {
    report.expect(value.equals(file.header(key)), "MANIFEST_LIST_HEADER", list,
        key + " is " + file.header(key) + ", must be " + value);
  }

  private void checkLine(GenericRecord line, JsonNode snapshot, String list, Content content) throws Exception {
    String path = AvroFile.text(line, "manifest_path");
    int specId = (int) AvroFile.number(line, "partition_spec_id", -1);
    report.expect(table.spec(specId) != null, "MANIFEST_LIST_SPEC", list, "partition_spec_id " + specId + " names no spec");
    if (!manifests.containsKey(path)) {
      manifests.put(path, ManifestCheck.read(report, table, path, specId));
    }
    ManifestCheck manifest = manifests.get(path);
    if (manifest == null) {
      return;
    }
    manifest.checkAgainst(line, list);
    checkLineNumbers(line, snapshot, list);
    boolean own = AvroFile.number(line, "added_snapshot_id", -1) == snapshot.path("snapshot-id").asLong();
    for (FileEntry e : manifest.entries) {
      if (own && e.status != FileEntry.EXISTING) {
        (e.status == FileEntry.ADDED ? content.added : content.deleted).add(e);
        content.partitions.add(specId + ":" + e.partitionText());
      }
      if (e.isLive()) {
        content.live.add(e);
        if (checkedFiles.add(e.path)) {
          dataFiles.check(e, manifest);
        }
      }
    }
  }

  private void checkLineNumbers(GenericRecord line, JsonNode snapshot, String list) {
    long added = AvroFile.number(line, "added_snapshot_id", -1);
    long sequence = AvroFile.number(line, "sequence_number", -1);
    String in = list + " " + LocalFiles.name(AvroFile.text(line, "manifest_path"));
    report.expect(sequence <= snapshot.path("sequence-number").asLong(), "MANIFEST_SEQUENCE_NUMBER", in,
        "sequence_number is above the snapshot's");
    for (JsonNode s : root.path("snapshots")) {
      if (s.path("snapshot-id").asLong() == added) {
        report.expectEqual(sequence, s.path("sequence-number").asLong(), "MANIFEST_SEQUENCE_NUMBER", in, "sequence_number");
      }
    }
  }

  /** Live files of a child are those of its parent, less the deleted, plus the added ones. */
  private void checkStep(JsonNode snapshot, Content content, String in) {
    Content parent = contents.get(snapshot.path("parent-snapshot-id").asLong(-1));
    boolean isFirst = !snapshot.path("parent-snapshot-id").isIntegralNumber();
    if (parent == null && !isFirst) {
      return;
    }
    Map<String, FileEntry> expected = new LinkedHashMap<>();
    if (parent != null) {
      parent.live.forEach(e -> expected.put(e.path, e));
    }
    for (FileEntry e : content.deleted) {
      report.expect(expected.remove(e.path) != null, "SNAPSHOT_STEP", in, "deletes a file that was not live: " + e.path);
    }
    for (FileEntry e : content.added) {
      report.expect(expected.put(e.path, e) == null, "SNAPSHOT_STEP", in, "adds a file that is live already: " + e.path);
    }
    for (FileEntry e : content.live) {
      report.expect(expected.remove(e.path) != null, "SNAPSHOT_STEP", in, "live, but neither inherited nor added: " + e.path);
    }
    expected.keySet().forEach(path -> report.problem("SNAPSHOT_STEP", in, "vanished without being deleted: " + path));
  }

  private void checkSummary(JsonNode snapshot, Content content, String in) {
    JsonNode summary = snapshot.path("summary");
    total(summary, "total-records", sum(content.live, 0, false), in);
    total(summary, "total-data-files", files(content.live, 0), in);
    total(summary, "total-delete-files", content.live.size() - files(content.live, 0), in);
    total(summary, "total-files-size", sum(content.live, -1, true), in);
    total(summary, "total-position-deletes", sum(content.live, 1, false), in);
    total(summary, "total-equality-deletes", sum(content.live, 2, false), in);
    delta(summary, "added-records", sum(content.added, 0, false), in);
    delta(summary, "added-data-files", files(content.added, 0), in);
    delta(summary, "added-files-size", sum(content.added, -1, true), in);
    delta(summary, "deleted-records", sum(content.deleted, 0, false), in);
    delta(summary, "deleted-data-files", files(content.deleted, 0), in);
    delta(summary, "removed-files-size", sum(content.deleted, -1, true), in);
    if (report.ownWriter) {
      delta(summary, "changed-partition-count", content.partitions.size(), in);
    }
    checkOperation(summary.path("operation").asText(), content, in);
  }

  private void checkOperation(String operation, Content content, String in) {
    boolean fits = true;
    if (operation.equals("append")) {
      fits = content.deleted.isEmpty() && content.added.stream().allMatch(e -> e.content == 0);
    } else if (operation.equals("replace")) {
      fits = sum(content.added, 0, false) == sum(content.deleted, 0, false)
          || content.deleted.stream().anyMatch(e -> e.content != 0)
          || content.live.stream().anyMatch(e -> e.content != 0);
    } else if (operation.equals("delete")) {
      fits = content.added.stream().allMatch(e -> e.content != 0);
    }
    report.expect(fits, "SNAPSHOT_OPERATION", in, "its entries do not fit operation " + operation);
  }

  private void total(JsonNode summary, String key, long recomputed, String in) {
    report.expectOfOwnWriter(summary.has(key), "SNAPSHOT_TOTALS", in, key + " is missing");
    if (summary.has(key)) {
      report.expect(summary.path(key).asText().equals(String.valueOf(recomputed)), "SNAPSHOT_TOTALS", in,
          key + " says " + summary.path(key).asText() + ", is " + recomputed);
    }
  }

  /** As total, but a missing key means zero. */
  private void delta(JsonNode summary, String key, long recomputed, String in) {
    report.expect(summary.path(key).asText("0").equals(String.valueOf(recomputed)), "SNAPSHOT_DELTAS", in,
        key + " says " + summary.path(key).asText("nothing") + ", is " + recomputed);
  }

  private static long files(List<FileEntry> entries, int content) {
    return entries.stream().filter(e -> e.content == content).count();
  }

  /** Sum of rows or bytes; content -1 takes all. */
  private static long sum(List<FileEntry> entries, int content, boolean bytes) {
    return entries.stream().filter(e -> content == -1 || e.content == content)
        .mapToLong(e -> bytes ? e.bytes : e.records).sum();
  }
}
