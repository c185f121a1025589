package org.apache.iceberg.rest;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Every request that reached the server, one JSON object a line: one when it came in, one when it was answered.
 *
 * <p>A line stands in the file before the request goes on, so a count of "received" lines never misses a request whose
 * answer was lost on its way.
 */
final class RequestLog {
  private final Writer out;
  private long last = 0;

  RequestLog(Path file) throws IOException {
    out = Files.newBufferedWriter(file);
  }

  /** The number of this request, counted from 1. */
  synchronized long received(String method, String path, String query, String idempotencyKey) throws IOException {
    long number = ++last;
    write("{\"n\":" + number + ",\"method\":" + quoted(method) + ",\"path\":" + quoted(path) + ",\"query\":" + quoted(query)
        + ",\"idempotency_key\":" + quoted(idempotencyKey) + "}");
    return number;
  }

  synchronized void answered(long number, int status, long millis) throws IOException {
    write("{\"n\":" + number + ",\"status\":" + status + ",\"ms\":" + millis + "}");
  }

  private void write(String line) throws IOException {
    out.write(line);
    out.write('\n');
    out.flush();
  }

  private static String quoted(String text) {
    if (text == null) return "null";
    var json = new StringBuilder("\"");
    for (char c : text.toCharArray()) {
      if (c == '"' || c == '\\') json.append('\\').append(c);
      else if (c < ' ') json.append(String.format("\\u%04x", (int) c));
      else json.append(c);
    }
    return json.append('"').toString();
  }
}
