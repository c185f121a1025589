package frazil.checker;

import java.nio.file.Files;
import java.nio.file.Path;

/** Locations as tables write them (file:///x, file:/x, /x, s3://b/k), turned into paths of this machine: objects of a store are copied. */
final class LocalFiles {
  private LocalFiles() {}

  static Path path(String location) {
    return ObjectStore.isObject(location) ? ObjectStore.copy(location) : Path.of(plain(location));
  }

  /** Two ways to write one file. */
  static boolean isSame(String one, String other) {
    return plain(one).equals(plain(other));
  }

  /** As Iceberg's readers take it. */
  static String uri(String location) {
    return ObjectStore.isObject(location) ? location : "file://" + path(location).toAbsolutePath();
  }

  private static String plain(String location) {
    String text = location;
    if (text.startsWith("file:")) {
      text = text.substring("file:".length());
      while (text.startsWith("//")) {
        text = text.substring(1);
      }
    }
    return text;
  }

  static boolean exists(String location) {
    return Files.isRegularFile(path(location));
  }

  static long size(String location) throws java.io.IOException {
    return Files.size(path(location));
  }

  /** The last part of a location, for messages. */
  static String name(String location) {
    return location.substring(location.lastIndexOf('/') + 1);
  }
}
