package org.apache.iceberg.rest;

import java.util.Map;
import java.util.TreeMap;

/**
 * The store's keys as they travel to clients with a table. The keys are always the same ones, but each handing out says
 * that they expire after the test's span, so clients have to come again.
 */
final class VendedStore {
  private final Map<String, String> options;  // null: nothing is vended
  private final long lifeSeconds;

  private VendedStore(Map<String, String> options, long lifeSeconds) {
    this.options = options;
    this.lifeSeconds = lifeSeconds;
  }

  static VendedStore from(Map<String, String> options) {
    boolean isOn = options.getOrDefault("vend", "none").equals("static");
    return new VendedStore(isOn ? options : null, RestServer.number(options, "vend-life-s", 0));
  }

  boolean isOn() {
    return options != null;
  }

  /** Everything that a client needs to reach the store, under the names of Iceberg's clients. */
  Map<String, String> config() {
    Map<String, String> config = new TreeMap<>();
    config.put("s3.endpoint", options.getOrDefault("vend-endpoint", RestServer.required(options, "s3-endpoint")));
    config.put("s3.access-key-id", RestServer.required(options, "s3-access-key"));
    config.put("s3.secret-access-key", RestServer.required(options, "s3-secret-key"));
    config.put("s3.path-style-access", "true");
    config.put("client.region", options.getOrDefault("s3-region", "us-east-1"));
    if (lifeSeconds > 0) {
      config.put("s3.session-token-expires-at-ms", Long.toString(System.currentTimeMillis() + lifeSeconds * 1000));
    }
    return config;
  }

  String warehouse() {
    return RestServer.required(options, "warehouse");
  }
}
