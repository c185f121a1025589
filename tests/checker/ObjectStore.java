package frazil.checker;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The objects of s3:// locations, each fetched once into a folder that goes with the process. Reads only, by signed requests
 * (AWS Signature Version 4, path style, no TLS) to CHECKER_S3_HOST with CHECKER_S3_ACCESS_KEY, _SECRET_KEY and _REGION.
 */
final class ObjectStore {
  private static final String EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

  private static final HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private static final Map<String, Path> fetched = new HashMap<>();
  private static Path folder;

  private ObjectStore() {}

  static boolean isObject(String location) {
    return location.startsWith("s3://");
  }

  /** A local copy; a path at which nothing lies when there is no such object. */
  static synchronized Path copy(String location) {
    return fetched.computeIfAbsent(location, ObjectStore::fetch);
  }

  private static Path fetch(String location) {
    try {
      if (folder == null) {
        folder = Files.createTempDirectory("checker");
        Runtime.getRuntime().addShutdownHook(new Thread(ObjectStore::clear));
      }
      Path target = folder.resolve(fetched.size() + "-" + LocalFiles.name(location).replaceAll("[^A-Za-z0-9._-]", "_"));
      HttpResponse<Path> answer = client.send(request(location.substring("s3:/".length())), HttpResponse.BodyHandlers.ofFile(target));
      if (answer.statusCode() == 404) {
        Files.delete(target);
      } else if (answer.statusCode() != 200) {
        throw new IOException("status " + answer.statusCode() + " for " + location + ": " + Files.readString(target, StandardCharsets.ISO_8859_1));
      }
      return target;
    } catch (Exception e) {
      throw new IllegalStateException("cannot fetch " + location, e);
    }
  }

  private static HttpRequest request(String path) throws Exception {
    String host = setting("HOST");
    String time = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").format(ZonedDateTime.now(ZoneOffset.UTC));
    String day = time.substring(0, 8);
    String encoded = encoded(path);
    String signed = "host;x-amz-content-sha256;x-amz-date";
    String canonical = "GET\n" + encoded + "\n\nhost:" + host + "\nx-amz-content-sha256:" + EMPTY + "\nx-amz-date:" + time + "\n\n" + signed + "\n" + EMPTY;
    String scope = day + "/" + setting("REGION") + "/s3/aws4_request";
    String text = "AWS4-HMAC-SHA256\n" + time + "\n" + scope + "\n"
        + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(canonical.getBytes(StandardCharsets.UTF_8)));
    byte[] key = ("AWS4" + setting("SECRET_KEY")).getBytes(StandardCharsets.UTF_8);
    for (String part : new String[] {day, setting("REGION"), "s3", "aws4_request", text}) {
      key = hmac(key, part);
    }
    return HttpRequest.newBuilder(URI.create("http://" + host + encoded)).header("x-amz-content-sha256", EMPTY).header("x-amz-date", time)
        .header("Authorization", "AWS4-HMAC-SHA256 Credential=" + setting("ACCESS_KEY") + "/" + scope + ", SignedHeaders=" + signed
            + ", Signature=" + HexFormat.of().formatHex(key)).build();
  }

  private static byte[] hmac(byte[] key, String text) throws Exception {
    Mac mac = Mac.getInstance("HmacSHA256");
    mac.init(new SecretKeySpec(key, "HmacSHA256"));
    return mac.doFinal(text.getBytes(StandardCharsets.UTF_8));
  }

  /** Every byte but those that S3 leaves as they are, as %XX. */
  private static String encoded(String path) {
    StringBuilder out = new StringBuilder();
    for (byte b : path.getBytes(StandardCharsets.UTF_8)) {
      char c = (char) (b & 0xff);
      boolean isPlain = c < 128 && (Character.isLetterOrDigit(c) || "/-._~".indexOf(c) >= 0);
      out.append(isPlain ? String.valueOf(c) : String.format("%%%02X", (int) c));
    }
    return out.toString();
  }

  private static String setting(String name) {
    String value = System.getenv("CHECKER_S3_" + name);
    if (value == null) {
      throw new IllegalStateException("CHECKER_S3_" + name + " is not set");
    }
    return value;
  }

  private static void clear() {
    try {
      for (Path path : fetched.values()) {
        Files.deleteIfExists(path);
      }
      Files.deleteIfExists(folder);
    } catch (IOException e) {
      System.err.println("cannot remove " + folder + ": " + e);
    }
  }
}
