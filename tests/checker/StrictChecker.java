package frazil.checker;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.iceberg.BaseTable;
import org.apache.iceberg.Schema;
import org.apache.iceberg.StaticTableOperations;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableMetadata;
import org.apache.iceberg.TableMetadataParser;
import org.apache.iceberg.data.IcebergGenerics;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.io.FileIO;

/**
 * Checks whole Iceberg tables, on local disk or in a store, more strictly than any reader does: what metadata,
 * manifests and footers claim is recomputed from the files themselves.
 *
 * <pre>
 * StrictChecker [--strict-writer frazil|off] [--filter-rows N] [--dump ROWS.jsonl] [--dump-only] [--column NAME]… METADATA.json…
 * </pre>
 *
 * <p>Prints one line for each problem, {@code CODE where: text}, after a line {@code table LOCATION},
 * and at the end what was looked at. Exit 0: no problem; 1: problems, or nothing was checked; 2: usage.
 * With {@code --strict-writer off}, rules that only Frazil's own files must keep are left out.
 * {@code --dump} writes the rows of the current snapshot as canonical JSON lines (of one table), of all
 * columns or of those that {@code --column} names.
 * {@code --filter-rows} bounds the tables whose columns are also read by filters (default 20000).
 */
public final class StrictChecker {
  private boolean ownWriter = true;
  private boolean dumpOnly;
  private long filterRows = 20_000;
  private Path dump;
  private final List<String> columns = new ArrayList<>();
  private final List<String> locations = new ArrayList<>();
  private final FileIO io = new AnyFileIO();

  public static void main(String[] args) throws Exception {
    StrictChecker checker = new StrictChecker();
    if (!checker.parse(args)) {
      System.err.println("usage: StrictChecker [--strict-writer frazil|off] [--filter-rows N] [--dump FILE] [--dump-only] [--column NAME]... METADATA.json...");
      System.exit(2);
    }
    System.exit(checker.run());
  }

  private boolean parse(String[] args) {
    for (int i = 0; i < args.length; i++) {
      boolean takesValue = List.of("--strict-writer", "--filter-rows", "--dump", "--column").contains(args[i]);
      if (takesValue && i + 1 == args.length) {
        return false;
      }
      switch (args[i]) {
        case "--strict-writer": ownWriter = !args[++i].equals("off"); break;
        case "--filter-rows": filterRows = Long.parseLong(args[++i]); break;
        case "--dump": dump = Path.of(args[++i]); break;
        case "--dump-only": dumpOnly = true; break;
        case "--column": columns.add(args[++i]); break;
        default: locations.add(args[i]);
      }
    }
    return !locations.isEmpty() && (dump == null || locations.size() == 1) && (!dumpOnly || dump != null);
  }

  private int run() throws Exception {
    boolean isGood = true;
    for (String location : locations) {
      Report report = new Report(ownWriter);
      System.out.println("table " + location);
      try {
        checkTable(location, report);
      } catch (Exception | LinkageError e) {
        report.problem("TABLE_UNREADABLE", LocalFiles.name(location), e.toString());
      }
      boolean sawSomething = report.counted("tables") > 0 || !report.problems().isEmpty();
      report.expect(sawSomething, "NOTHING_CHECKED", LocalFiles.name(location), "the table was not checked");
      report.problems().forEach(System.out::println);
      System.out.println(report.summary());
      isGood &= report.problems().isEmpty();
    }
    return isGood ? 0 : 1;
  }

  private void checkTable(String location, Report report) throws Exception {
    JsonNode root = MetadataCheck.read(location);
    if (!dumpOnly) {
      MetadataCheck.check(report, location, root);
    }
    String file = LocalFiles.uri(location);
    TableMetadata metadata = TableMetadataParser.read(io, file);
    Table table = new BaseTable(new StaticTableOperations(metadata, io), LocalFiles.name(location));
    if (!dumpOnly) {
      checkContents(report, root, metadata, table, LocalFiles.name(location));
    }
    if (dump != null) {
      dump(table);
    }
    report.count("tables", 1);
  }

  private void checkContents(Report report, JsonNode root, TableMetadata metadata, Table table, String where) throws Exception {
    TableMetadata again = TableMetadataParser.fromJson(TableMetadataParser.toJson(metadata));
    report.expect(again.currentSnapshot() == null || again.snapshots().size() == metadata.snapshots().size(),
        "METADATA_ROUND_TRIP", where, "iceberg-java does not read back its own writing of it");
    SnapshotCheck snapshots = new SnapshotCheck(report, metadata, root);
    snapshots.check();
    if (table.currentSnapshot() != null) {
      try {
        new ReaderCheck(report, table, where).check(snapshots.liveRecords(table.currentSnapshot().snapshotId()), filterRows);
      } catch (Exception | LinkageError e) {
        report.problem("READER_REFUSES", where, e.toString());
      }
      // A table whose history holds rows, of which none was read, has not been checked.
      boolean hasFiles = snapshots.liveRecords(table.currentSnapshot().snapshotId()) > 0;
      report.expect(!hasFiles || (report.counted("rows") > 0 && report.counted("values") > 0), "NOTHING_CHECKED", where, "no row was read");
    }
  }

  private void dump(Table table) throws Exception {
    try (Writer out = Files.newBufferedWriter(dump, StandardCharsets.UTF_8)) {
      if (table.currentSnapshot() == null) {
        return;
      }
      Schema schema = columns.isEmpty() ? table.schema() : table.schema().select(columns);
      try (RowText text = new RowText(out); CloseableIterable<Record> rows = IcebergGenerics.read(table).project(schema).build()) {
        for (Record row : rows) {
          text.write(schema.asStruct(), row);
        }
      }
    }
  }
}
