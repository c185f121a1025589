package frazil.checker;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What one run has found: problems, and how much was looked at.
 *
 * <p>A problem is printed as one line, {@code CODE where: text}. Counts exist so that a check which
 * looked at nothing cannot pass for a success.
 */
final class Report {
  private final List<String> problems = new ArrayList<>();
  private final Map<String, Long> counts = new LinkedHashMap<>();
  /** Rules that bind only files which Frazil itself wrote. */
  final boolean ownWriter;

  Report(boolean ownWriter) {
    this.ownWriter = ownWriter;
    for (String kind : new String[] {"tables", "snapshots", "manifest_lists", "manifests",
        "entries", "files", "row_groups", "pages", "columns", "rows", "values", "bounds",
        "filters"}) {
      counts.put(kind, 0L);
    }
  }

  void problem(String code, String where, String text) {
    problems.add(code + " " + where + ": " + text.replace('\n', ' '));
  }

  /** Records a problem unless the statement holds. */
  boolean expect(boolean holds, String code, String where, String text) {
    if (!holds) {
      problem(code, where, text);
    }
    return holds;
  }

  /** As expect, for rules that foreign writers are allowed to break. */
  boolean expectOfOwnWriter(boolean holds, String code, String where, String text) {
    return !ownWriter || expect(holds, code, where, text);
  }

  void expectEqual(long found, long recomputed, String code, String where, String what) {
    expect(found == recomputed, code, where, what + " says " + found + ", is " + recomputed);
  }

  void count(String kind, long n) {
    counts.merge(kind, n, Long::sum);
  }

  long counted(String kind) {
    return counts.getOrDefault(kind, 0L);
  }

  List<String> problems() {
    return problems;
  }

  /** One line: {@code checked tables=1 snapshots=2 …}. */
  String summary() {
    StringBuilder line = new StringBuilder("checked");
    counts.forEach((kind, n) -> line.append(' ').append(kind).append('=').append(n));
    return line.toString();
  }
}
