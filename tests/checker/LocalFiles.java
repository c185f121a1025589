package frazil.checker;

import java.nio.file.Files;
import java.nio.file.Path;

/** Locations as tables write them (file:///x, file:/x, /x), turned into paths of this machine. */
final class LocalFiles {
  private LocalFiles() {}

  static Path path(String location) {
    String text = location;
    if (text.startsWith("file:")) {
      text = text.substring("file:".length());
      while (text.startsWith("//")) {
        text = text.substring(1);
      }
    }
    return Path.of(text);
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
