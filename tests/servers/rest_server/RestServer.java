package org.apache.iceberg.rest;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.CatalogUtil;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.Server;

/**
 * A real Iceberg REST catalog on loopback for tests: Apache Iceberg's reference server over its JdbcCatalog on SQLite.
 *
 * <p>It lives in Iceberg's package because the reference server's parts are visible only there. Arguments are name=value:
 *
 * <pre>
 *   port=8181                where to listen, on 127.0.0.1 only
 *   warehouse=file:///w      or s3://bucket/path; a s3 warehouse needs the s3-* arguments
 *   database=/tmp/catalog.db the SQLite file
 *   log=/tmp/requests.jsonl  every request, see RequestLog
 *   s3-endpoint= s3-access-key= s3-secret-key= s3-region=us-east-1
 *   client-id= client-secret= token-life-s=3600   OAuth2 client credentials; without an id nobody has to log in
 *   vend=none|static vend-life-s=0                 credentials with tables; 0: they never expire
 *   vend-endpoint=           the endpoint that is vended, when clients reach the store by another way
 *   idempotency=PT30M        tell clients that idempotency keys are honoured, for so long
 * </pre>
 */
public final class RestServer {
  private static final Set<String> KNOWN = Set.of("port", "warehouse", "database", "log", "s3-endpoint", "s3-access-key",
      "s3-secret-key", "s3-region", "client-id", "client-secret", "token-life-s", "vend", "vend-life-s", "vend-endpoint", "idempotency");

  private RestServer() {}

  public static void main(String[] arguments) throws Exception {
    Map<String, String> options = parse(arguments);
    var log = new RequestLog(Path.of(required(options, "log")));
    var tokens = options.containsKey("client-id")
        ? new TokenIssuer(options.get("client-id"), required(options, "client-secret"), number(options, "token-life-s", 3600))
        : null;
    var servlet = new Catalogs(base -> new GuardedServlet(adapter(options, base), tokens, log, base));
    servlet.prepare();

    var handler = new ServletContextHandler("/");
    handler.addServlet(new ServletHolder(servlet), "/*");
    var server = new Server(new InetSocketAddress("127.0.0.1", (int) number(options, "port", 8181)));
    server.setHandler(handler);
    server.start();
    System.out.println("ready");
    server.join();
  }

  /** The catalog at a base path: each has a database and a warehouse of its own. */
  private static VendingAdapter adapter(Map<String, String> options, String base) {
    Map<String, String> own = new HashMap<>(options);
    String name = base.substring(base.lastIndexOf('/') + 1);
    if (!name.isEmpty()) {
      own.put("database", required(options, "database") + "." + name);
      own.put("warehouse", required(options, "warehouse") + "/" + name);
    }
    Map<String, String> properties = catalogProperties(own);
    var catalog = CatalogUtil.buildIcebergCatalog("rest_backend", properties, new Configuration());
    return new VendingAdapter(new RESTCatalogServer.CatalogContext(catalog, properties), VendedStore.from(own), options.get("idempotency"));
  }

  private static Map<String, String> parse(String[] arguments) {
    Map<String, String> options = new HashMap<>();
    for (String argument : arguments) {
      int equals = argument.indexOf('=');
      if (equals < 0 || !KNOWN.contains(argument.substring(0, equals))) {
        throw new IllegalArgumentException("unknown argument " + argument);
      }
      options.put(argument.substring(0, equals), argument.substring(equals + 1));
    }
    return options;
  }

  private static Map<String, String> catalogProperties(Map<String, String> options) {
    Map<String, String> properties = new HashMap<>();
    properties.put("catalog-impl", "org.apache.iceberg.jdbc.JdbcCatalog");
    properties.put("uri", "jdbc:sqlite:" + required(options, "database") + "?busy_timeout=10000");
    properties.put("jdbc.schema-version", "V1");
    properties.put("jdbc.strict-mode", "true");  // no table without its namespace
    properties.put("warehouse", required(options, "warehouse"));
    if (options.containsKey("s3-endpoint")) {
      properties.put("io-impl", "org.apache.iceberg.aws.s3.S3FileIO");
      properties.put("s3.endpoint", options.get("s3-endpoint"));
      properties.put("s3.access-key-id", required(options, "s3-access-key"));
      properties.put("s3.secret-access-key", required(options, "s3-secret-key"));
      properties.put("s3.path-style-access", "true");
      properties.put("client.region", options.getOrDefault("s3-region", "us-east-1"));
    }
    return properties;
  }

  static String required(Map<String, String> options, String name) {
    String value = options.get(name);
    if (value == null) throw new IllegalArgumentException("missing argument " + name + "=");
    return value;
  }

  static long number(Map<String, String> options, String name, long otherwise) {
    String value = options.get(name);
    return value == null ? otherwise : Long.parseLong(value);
  }
}
