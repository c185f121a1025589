package frazil.checker;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The metadata JSON by itself, read as plain JSON: readers of the format forgive missing and wrong
 * fields, so none of them is asked here.
 */
final class MetadataCheck {
  private static final Set<String> OPERATIONS = Set.of("append", "replace", "overwrite", "delete");
  private static final long CLOCK_SKEW_MS = 60_000;

  private final Report report;
  private final String where;
  private final JsonNode root;
  private final Map<Long, JsonNode> snapshots = new HashMap<>();
  private final Set<Long> schemaIds = new HashSet<>();
  private final Set<Integer> fieldIds = new HashSet<>();

  private MetadataCheck(Report report, String where, JsonNode root) {
    this.report = report;
    this.where = where;
    this.root = root;
  }

  static JsonNode read(String location) throws Exception {
    ObjectMapper mapper = new ObjectMapper();
    mapper.enable(JsonParser.Feature.STRICT_DUPLICATE_DETECTION);
    return mapper.readTree(LocalFiles.path(location).toFile());
  }

  static void check(Report report, String location, JsonNode root) {
    MetadataCheck c = new MetadataCheck(report, LocalFiles.name(location), root);
    c.checkTop();
    c.checkSchemas();
    c.checkSpecs();
    c.checkSortOrders();
    c.checkSnapshots();
    c.checkRefs();
    c.checkSnapshotLog();
    c.checkMetadataLog(location);
  }

  private void checkTop() {
    long version = integer(root, "format-version", where);
    report.expect(version == 2 || version == 3, "METADATA_VERSION", where, "format-version " + version);
    String uuid = text(root, "table-uuid", where);
    try {
      UUID.fromString(uuid);
    } catch (IllegalArgumentException e) {
      report.problem("METADATA_UUID", where, "table-uuid '" + uuid + "' is no UUID");
    }
    report.expect(!text(root, "location", where).endsWith("/"), "METADATA_LOCATION", where,
        "location ends in a slash");
    integer(root, "last-sequence-number", where);
    integer(root, "last-updated-ms", where);
    JsonNode properties = root.path("properties");
    properties.fields().forEachRemaining(e -> report.expect(e.getValue().isTextual(),
        "METADATA_PROPERTY", where, "property " + e.getKey() + " is no string"));
  }

  private void checkSchemas() {
    int max = 0;
    for (JsonNode schema : array(root, "schemas")) {
      long id = integer(schema, "schema-id", where);
      report.expect(schemaIds.add(id), "METADATA_SCHEMA", where, "schema-id " + id + " stands twice");
      report.expect("struct".equals(schema.path("type").asText()), "METADATA_SCHEMA", where,
          "schema " + id + " is no struct");
      Set<Integer> ids = new HashSet<>();
      max = Math.max(max, collectIds(schema, ids, "schema " + id));
      for (JsonNode identifier : schema.path("identifier-field-ids")) {
        report.expect(ids.contains(identifier.asInt()), "METADATA_SCHEMA", where,
            "identifier field " + identifier + " is not in schema " + id);
      }
      fieldIds.addAll(ids);
    }
    report.expect(schemaIds.contains(integer(root, "current-schema-id", where)),
        "METADATA_CURRENT_SCHEMA", where, "current-schema-id names no schema");
    long last = integer(root, "last-column-id", where);
    report.expect(last >= max, "METADATA_LAST_COLUMN_ID", where,
        "last-column-id " + last + " is below field id " + max);
  }

  /** Collects the ids of a type and its parts; returns the greatest. */
  private int collectIds(JsonNode type, Set<Integer> ids, String in) {
    int max = 0;
    for (JsonNode field : type.path("fields")) {
      integer(field, "id", in);
      text(field, "name", in);
      report.expect(field.path("required").isBoolean(), "METADATA_FIELD", where,
          in + ": field without required");
      max = Math.max(max, addId(field.path("id").asInt(), ids, in));
      max = Math.max(max, collectIds(field.path("type"), ids, in));
    }
    for (String part : new String[] {"element", "key", "value"}) {
      if (type.isObject() && type.has(part + "-id")) {
        max = Math.max(max, addId(type.path(part + "-id").asInt(), ids, in));
        max = Math.max(max, collectIds(type.path(part), ids, in));
      }
    }
    return max;
  }

  private int addId(int id, Set<Integer> ids, String in) {
    report.expect(id > 0 && ids.add(id), "METADATA_FIELD", where, in + ": field id " + id + " twice or not positive");
    return id;
  }

  private void checkSpecs() {
    Set<Long> specs = new HashSet<>();
    Map<Long, String> fields = new HashMap<>();
    long max = 999;
    for (JsonNode spec : array(root, "partition-specs")) {
      long id = integer(spec, "spec-id", where);
      report.expect(specs.add(id), "METADATA_SPEC", where, "spec-id " + id + " stands twice");
      Set<String> names = new HashSet<>();
      for (JsonNode field : array(spec, "fields")) {
        long fieldId = integer(field, "field-id", where);
        String meaning = field.path("source-id") + " " + text(field, "transform", where);
        report.expect(fieldId >= 1000, "METADATA_SPEC", where, "partition field id " + fieldId + " is below 1000");
        report.expect(fields.getOrDefault(fieldId, meaning).equals(meaning), "METADATA_SPEC", where,
            "partition field id " + fieldId + " has two meanings");
        fields.put(fieldId, meaning);
        report.expect(names.add(text(field, "name", where)), "METADATA_SPEC", where,
            "partition field name twice in spec " + id);
        report.expect(fieldIds.contains(field.path("source-id").asInt()), "METADATA_SPEC", where,
            "partition source " + field.path("source-id") + " is in no schema");
        max = Math.max(max, fieldId);
      }
    }
    report.expect(specs.contains(integer(root, "default-spec-id", where)), "METADATA_DEFAULT_SPEC",
        where, "default-spec-id names no spec");
    long last = integer(root, "last-partition-id", where);
    report.expect(last >= max, "METADATA_LAST_PARTITION_ID", where,
        "last-partition-id " + last + " is below " + max);
  }

  private void checkSortOrders() {
    Set<Long> orders = new HashSet<>();
    for (JsonNode order : array(root, "sort-orders")) {
      long id = integer(order, "order-id", where);
      report.expect(orders.add(id), "METADATA_SORT_ORDER", where, "order-id " + id + " stands twice");
      report.expect((id == 0) == array(order, "fields").isEmpty(), "METADATA_SORT_ORDER", where,
          "order 0, and only it, is the empty order; found order " + id);
    }
    report.expect(orders.contains(integer(root, "default-sort-order-id", where)),
        "METADATA_SORT_ORDER", where, "default-sort-order-id names no order");
  }

  private void checkSnapshots() {
    long lastSequence = root.path("last-sequence-number").asLong();
    Set<Long> sequences = new HashSet<>();
    for (JsonNode s : root.path("snapshots")) {
      long id = integer(s, "snapshot-id", where);
      String in = where + " snapshot " + id;
      report.expect(snapshots.put(id, s) == null, "SNAPSHOT_TWICE", in, "snapshot id stands twice");
      long sequence = integer(s, "sequence-number", in);
      report.expect(sequence <= lastSequence, "METADATA_LAST_SEQUENCE_NUMBER", in,
          "last-sequence-number " + lastSequence + " is below " + sequence);
      report.expect(sequence > 0 && sequences.add(sequence), "SNAPSHOT_SEQUENCE_NUMBER", in,
          "sequence number " + sequence + " is not positive or stands twice");
      integer(s, "timestamp-ms", in);
      text(s, "manifest-list", in);
      report.expect(s.path("schema-id").isIntegralNumber() && schemaIds.contains(s.path("schema-id").asLong()),
          "SNAPSHOT_SCHEMA_ID", in, "schema-id is missing or names no schema");
      JsonNode operation = s.path("summary").path("operation");
      report.expect(operation.isTextual() && OPERATIONS.contains(operation.asText()),
          "SNAPSHOT_OPERATION", in, "summary.operation is missing or unknown: " + operation);
      s.path("summary").fields().forEachRemaining(e -> report.expect(e.getValue().isTextual(),
          "SNAPSHOT_SUMMARY", in, "summary " + e.getKey() + " is no string"));
    }
    snapshots.values().forEach(this::checkAgainstParent);
    report.count("snapshots", snapshots.size());
  }

  private void checkAgainstParent(JsonNode s) {
    JsonNode parent = snapshots.get(s.path("parent-snapshot-id").asLong(-1));
    if (parent == null) {
      return; // the first snapshot, or its parent has expired
    }
    String in = where + " snapshot " + s.path("snapshot-id");
    report.expect(s.path("sequence-number").asLong() > parent.path("sequence-number").asLong(),
        "SNAPSHOT_SEQUENCE_NUMBER", in, "sequence number does not rise above its parent's");
    long skew = report.ownWriter ? 0 : CLOCK_SKEW_MS;
    report.expect(s.path("timestamp-ms").asLong() + skew >= parent.path("timestamp-ms").asLong(),
        "SNAPSHOT_TIMESTAMP", in, "timestamp is older than its parent's");
  }

  private long currentSnapshot() {
    JsonNode current = root.path("current-snapshot-id");
    return current.isIntegralNumber() ? current.asLong() : -1;
  }

  private void checkRefs() {
    long current = currentSnapshot();
    report.expect(current == -1 || snapshots.containsKey(current), "METADATA_CURRENT_SNAPSHOT", where,
        "current-snapshot-id " + current + " names no snapshot");
    JsonNode refs = root.path("refs");
    if (current != -1) {
      report.expect(refs.path("main").path("snapshot-id").asLong(-1) == current, "METADATA_REF_MAIN", where,
          "ref main is not the current snapshot");
    } else {
      report.expect(!refs.has("main"), "METADATA_REF_MAIN", where, "ref main without a current snapshot");
    }
    for (Iterator<Map.Entry<String, JsonNode>> it = refs.fields(); it.hasNext(); ) {
      Map.Entry<String, JsonNode> ref = it.next();
      long id = integer(ref.getValue(), "snapshot-id", where + " ref " + ref.getKey());
      report.expect(snapshots.containsKey(id), "METADATA_REF", where,
          "ref " + ref.getKey() + " names no snapshot: " + id);
      String type = ref.getValue().path("type").asText();
      report.expect(type.equals("tag") || (type.equals("branch")), "METADATA_REF", where,
          "ref " + ref.getKey() + " is neither tag nor branch");
      report.expect(!ref.getKey().equals("main") || type.equals("branch"), "METADATA_REF_MAIN", where,
          "ref main is no branch");
    }
  }

  private void checkSnapshotLog() {
    long before = Long.MIN_VALUE;
    long last = -1;
    for (JsonNode entry : root.path("snapshot-log")) {
      long time = integer(entry, "timestamp-ms", where);
      last = integer(entry, "snapshot-id", where);
      report.expect(time + skew() >= before, "METADATA_SNAPSHOT_LOG", where, "snapshot-log is out of order");
      JsonNode snapshot = snapshots.get(last);
      report.expectOfOwnWriter(snapshot == null || snapshot.path("timestamp-ms").asLong() <= time,
          "METADATA_SNAPSHOT_LOG", where, "snapshot-log entry is older than its snapshot " + last);
      before = time;
    }
    long current = currentSnapshot();
    report.expect(current == -1 || last == current, "METADATA_SNAPSHOT_LOG", where,
        "snapshot-log ends with " + last + ", current is " + current);
    report.expect(root.path("last-updated-ms").asLong() + skew() >= before, "METADATA_LAST_UPDATED", where,
        "last-updated-ms is older than the snapshot-log");
  }

  private void checkMetadataLog(String location) {
    long before = Long.MIN_VALUE;
    String last = null;
    Set<String> files = new HashSet<>();
    for (JsonNode entry : root.path("metadata-log")) {
      long time = integer(entry, "timestamp-ms", where);
      last = text(entry, "metadata-file", where);
      report.expect(time + skew() >= before, "METADATA_LOG", where, "metadata-log is out of order");
      report.expect(files.add(last), "METADATA_LOG", where, "metadata-log names a file twice: " + last);
      before = time;
    }
    report.expect(root.path("last-updated-ms").asLong() + skew() >= before, "METADATA_LAST_UPDATED", where,
        "last-updated-ms is older than the metadata-log");
    report.expect(files.stream().noneMatch(f -> LocalFiles.isSame(f, location)),
        "METADATA_LOG", where, "metadata-log names this very file");
    report.expectOfOwnWriter(last == null || LocalFiles.exists(last), "METADATA_LOG", where,
        "the previous metadata file does not exist: " + last);
    int keep = root.path("properties").path("write.metadata.previous-versions-max").asInt(100);
    report.expect(files.size() <= keep, "METADATA_LOG", where,
        "metadata-log holds " + files.size() + " entries, allowed are " + keep);
  }

  private long skew() {
    return report.ownWriter ? 0 : CLOCK_SKEW_MS;
  }

  private JsonNode array(JsonNode node, String field) {
    report.expect(node.path(field).isArray(), "METADATA_FIELD", where, "no array " + field);
    return node.path(field);
  }

  /** A whole number written as one: an exponent or a fraction has been through a double. */
  private long integer(JsonNode node, String field, String in) {
    report.expect(node.path(field).isIntegralNumber() && node.path(field).canConvertToLong(),
        "METADATA_FIELD", in, field + " is missing or no integer: " + node.path(field));
    return node.path(field).asLong(Long.MIN_VALUE);
  }

  private String text(JsonNode node, String field, String in) {
    report.expect(node.path(field).isTextual(), "METADATA_FIELD", in, field + " is missing or no string");
    return node.path(field).asText();
  }
}
