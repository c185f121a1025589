#include "app/convert/catalog_names.h"

#include <algorithm>
#include <array>

#include "app/config/catalog_properties.h"
#include "io/location.h"
#include "net/url.h"

namespace frazil::app {
namespace {

using C = Conversion;
using G = Given;

constexpr char kCatalog[] = "table.catalog";
constexpr char kProperties[] = "table.catalog.properties";

// Catalogs of others by `type`, or by the end of their class in `catalog-impl`.
struct CatalogKind {
  std::string_view type;
  std::string_view implementation;
  std::string_view reason;  // empty: supported
};
constexpr std::array kKinds = {
    CatalogKind{"rest", "RESTCatalog", ""},
    CatalogKind{"jdbc", "JdbcCatalog", ""},
    CatalogKind{"sqlite", "", ""},
    CatalogKind{"hadoop", "HadoopCatalog",
                "a hadoop catalog swaps metadata by renaming files, which object stores do not do atomically, and is unsupported in this "
                "version: register its tables in a REST catalog and name that with type rest"},
    CatalogKind{"hive", "HiveCatalog",
                "Hive metastores are unsupported in this version: put a REST catalog in front, or register the tables in one, and use "
                "type rest"},
    CatalogKind{"glue", "GlueCatalog",
                "AWS Glue is reached by its Iceberg REST endpoint: type rest, uri https://glue.<region>.amazonaws.com/iceberg, "
                "rest.sigv4-enabled true, rest.signing-name glue, rest.signing-region"},
    CatalogKind{"nessie", "NessieCatalog", "Nessie serves Iceberg's REST protocol too: type rest, uri http(s)://<server>/iceberg/<branch>"},
    CatalogKind{"bigquery", "BigQueryMetastoreCatalog",
                "BigQuery's metastore catalog is unsupported in this version: the same tables are reached by type rest, "
                "uri https://biglake.googleapis.com/iceberg/v1/restcatalog, gcp.auth.credentials-path"},
    CatalogKind{"dynamodb", "DynamoDbCatalog", "DynamoDB catalogs are unsupported: register the tables in a REST catalog and name that with type rest"},
    CatalogKind{"snowflake", "SnowflakeCatalog", "Snowflake's own protocol is unsupported: its Open Catalog (Polaris) is reached by type rest"},
    CatalogKind{"ecs", "EcsCatalog", "ECS catalogs are unsupported: register the tables in a REST catalog and name that with type rest"},
};

std::string property_variable(const std::string& name) {
  const bool names_its_store = name.starts_with("s3.") || name.starts_with("gcs.");
  return (names_its_store ? "" : "CATALOG_") + variable_name(name);
}

void put_property(C& c, const G& given, const std::string& name) {
  const std::string text = given.text();
  if (is_catalog_secret(name)) {
    c.draft.set_property(kProperties, name, c.secret(given, text, property_variable(name)));
    return;
  }
  if (const auto status = check_catalog_property(name, text); !status.ok()) return c.refused(given, status.error().message());
  c.draft.set_property(kProperties, name, keep_references(text));
}

ForeignName property(const std::string& name) {
  return {.name = name, .doc = "`table.catalog.properties`, the same name", .translate = [](C& c, const G& given) { put_property(c, given, given.key); }};
}

ForeignName renamed(const std::string& name, const std::string& ours) {
  return {.name = name, .doc = "`table.catalog.properties`: `" + ours + "`", .translate = [ours](C& c, const G& given) { put_property(c, given, ours); }};
}

ForeignName not_needed(const std::string& name, const std::string& why) {
  return {.name = name, .fate = Fate::kNotNeeded, .doc = why};
}

ForeignName refused(const std::string& name, const std::string& why) {
  return {.name = name, .fate = Fate::kRefused, .doc = why};
}

void put_kind(C& c, const G& given, const CatalogKind& kind) {
  if (!kind.reason.empty()) return c.refused(given, std::string(kind.reason));
  // JDBC is decided by its uri.
  c.draft.set("table.catalog.type", kind.type == "jdbc" ? "sqlite" : std::string(kind.type));
}

void translate_type(C& c, const G& given) {
  for (const CatalogKind& kind : kKinds) {
    if (kind.type == given.text()) return put_kind(c, given, kind);
  }
  c.refused(given, "this catalog type is not known; there are rest, and jdbc on SQLite");
}

void translate_implementation(C& c, const G& given) {
  for (const CatalogKind& kind : kKinds) {
    if (!kind.implementation.empty() && given.text().ends_with(kind.implementation)) return put_kind(c, given, kind);
  }
  c.refused(given, "classes of Java are not loaded; there are type rest, and jdbc on SQLite");
}

void translate_uri(C& c, const G& given) {
  constexpr std::string_view kJdbcSqlite = "jdbc:sqlite:";
  std::string uri = given.text();
  if (!uri.starts_with("jdbc:")) return c.draft.set("table.catalog.uri", keep_references(uri));
  if (!uri.starts_with(kJdbcSqlite)) {
    return c.refused(given, "JDBC catalogs on other databases than SQLite are unsupported: put a REST catalog in front and use type rest");
  }
  uri = uri.substr(kJdbcSqlite.size());
  if (uri.starts_with("file:")) uri = uri.substr(5);
  uri = uri.substr(0, uri.find('?'));
  c.draft.set("table.catalog.type", "sqlite");
  c.draft.set("table.catalog.uri", keep_references(uri));
  c.changed(given, "`table.catalog.type: sqlite` with the database file as `uri`; both programs share it");
}

void translate_warehouse(C& c, const G& given) {
  const std::string warehouse = given.text();
  constexpr std::string_view kKnown[] = {"file", "s3", "s3a", "s3n", "gs"};
  const std::string scheme = warehouse.find(":/") == std::string::npos ? "" : io::scheme_of(warehouse);
  if (!scheme.empty() && std::find(std::begin(kKnown), std::end(kKnown), scheme) == std::end(kKnown)) {
    return c.refused(given, "stores of scheme " + scheme + " are unsupported in this version; there are file, s3 and gs");
  }
  c.draft.set("table.catalog.warehouse", keep_references(warehouse));
}

void translate_secret(C& c, const G& given) {
  c.draft.set("table.catalog." + given.key, c.secret(given, given.text(), "CATALOG_" + variable_name(given.key)));
}

void translate_store_class(C& c, const G& given) {
  const std::string name = given.text();
  for (const char* known : {"S3FileIO", "GCSFileIO", "HadoopFileIO", "ResolvingFileIO"}) {
    if (name.ends_with(known)) return;
  }
  c.refused(given, name.ends_with("ADLSFileIO") ? "Azure's stores are unsupported in this version" : "classes of Java are not loaded");
}

void translate_auth_type(C& c, const G& given) {
  const std::string type = given.text();
  if (type == "none" || type == "oauth2") return;
  if (type == "sigv4") {
    c.draft.set_property(kProperties, "rest.sigv4-enabled", "true");
    return c.changed(given, "`rest.sigv4-enabled: true`");
  }
  if (type == "google") return c.changed(given, "follows from gcp.auth.credentials-path, a service account's key file");
  c.refused(given, "there are none, oauth2, sigv4 and google");
}

void translate_header(C& c, const G& given) {
  std::string lower = given.key;
  std::transform(lower.begin(), lower.end(), lower.begin(), [](unsigned char x) { return std::tolower(x); });
  if (lower == "x-iceberg-access-delegation") {
    c.draft.set_property(kProperties, "access-delegation", keep_references(given.text()));
    return c.changed(given, "`access-delegation`");
  }
  if (lower == "authorization") return c.refused(given, "set `table.catalog.token` or `credential`, by reference");
  put_property(c, given, "header." + given.key);
}

void translate_table_default(C& c, const G& given) {
  c.draft.set_property("table.create.properties", given.key, keep_references(given.text()));
}

std::vector<ForeignName> service_names() {
  return {
      {.name = "type", .doc = "`table.catalog.type` for rest, and for jdbc on SQLite; other catalogs are refused, each with its way out", .translate = translate_type},
      {.name = "catalog-impl", .doc = "as `type`, by the class", .translate = translate_implementation},
      {.name = "uri", .doc = "`table.catalog.uri`; `jdbc:sqlite:FILE` becomes type sqlite", .translate = translate_uri},
      {.name = "warehouse", .doc = "`table.catalog.warehouse`; schemes file, s3 and gs", .translate = translate_warehouse},
      {.name = "credential", .doc = "`table.catalog.credential`, by reference", .translate = translate_secret},
      {.name = "token", .doc = "`table.catalog.token`, by reference", .translate = translate_secret},
      property("oauth2-server-uri"),
      property("scope"),
      property("audience"),
      property("resource"),
      property("token-expires-in-ms"),
      property("prefix"),
      property("rest-page-size"),
      property("namespace-separator"),
      property("access-delegation"),
      property("rest.sigv4-enabled"),
      property("rest.signing-region"),
      property("rest.signing-name"),
      property("gcp.auth.credentials-path"),
      property("gcp.auth.scopes"),
      property("gcp.auth.instance-metadata"),
      {.name = "rest.auth.type", .doc = "follows from what else is set; sigv4 becomes `rest.sigv4-enabled`; google needs gcp.auth.credentials-path; basic is refused", .translate = translate_auth_type},
      {.name = "header.*",
       .doc = "`table.catalog.properties`, the same name; X-Iceberg-Access-Delegation becomes `access-delegation`; Authorization is refused",
       .translate = translate_header},
      renamed("rest.access-key-id", "s3.access-key-id"),
      renamed("rest.secret-access-key", "s3.secret-access-key"),
      renamed("rest.session-token", "s3.session-token"),
      {.name = "table-default.*", .doc = "`table.create.properties`", .translate = translate_table_default},
      {.name = "table-override.*", .fate = Fate::kChanged, .doc = "`table.create.properties`, when Frazil creates the table", .translate = translate_table_default},
      not_needed("token-refresh-enabled", "tokens are always renewed before they expire"),
      not_needed("token-exchange-enabled", "a new token is asked for by the client's credential"),
      not_needed("clients", "one connection is kept for each lane that needs one"),
      not_needed("cache-enabled", "nothing is kept between commits"),
      not_needed("cache.*", "nothing is kept between commits"),
      not_needed("metrics-reporter-impl", "see /metrics"),
      not_needed("rest-metrics-reporting-enabled", "no reports are sent to the catalog"),
      not_needed("rest-table-cache.*", "nothing is kept between commits"),
      not_needed("snapshot-loading-mode", "tables are loaded whole"),
      not_needed("scan-planning-mode", "Frazil plans no scans"),
      not_needed("view-endpoints-supported", "Frazil uses no views"),
      not_needed("default-namespace", "tables are named with their namespace"),
      not_needed("jdbc.schema-version", "both layouts are read"),
      not_needed("jdbc.init-catalog-tables", "missing tables are created"),
      refused("unique-table-location", "locations of new tables are <warehouse>/<namespace>/<table>; create the table before to choose another"),
      refused("encryption.kms-impl", "encrypted tables are unsupported in this version"),
      refused("jdbc.user", "a SQLite file has no users; other databases are unsupported"),
      refused("jdbc.password", "a SQLite file has no users; other databases are unsupported"),
      refused("ref", "Nessie's branches stand in the uri of its REST endpoint: /iceberg/<branch>"),
      refused("gcp.bigquery.*", "BigQuery's metastore catalog is unsupported in this version: use type rest with uri https://biglake.googleapis.com/iceberg/v1/restcatalog"),
      refused("glue.*", "AWS Glue is reached by its Iceberg REST endpoint, type rest"),
      refused("lock.*", "locks belong to Hadoop and Glue catalogs, which are unsupported"),
      refused("gcp.auth.*", "keep the service account's key in a file: gcp.auth.credentials-path for the catalog, gcs.credentials-file for the store"),
  };
}

std::vector<ForeignName> store_names() {
  constexpr char kEncryption[] = "the bucket's own default encryption applies; keys chosen by the client are unsupported in this version";
  return {
      {.name = "io-impl", .fate = Fate::kNotNeeded, .doc = "the store follows from the scheme of a location; Azure is refused", .translate = translate_store_class},
      renamed("client.region", "s3.region"),
      property("s3.region"),
      property("s3.endpoint"),
      property("s3.access-key-id"),
      property("s3.secret-access-key"),
      property("s3.session-token"),
      property("s3.session-token-expires-at-ms"),
      property("s3.path-style-access"),
      property("s3.force-virtual-addressing"),
      property("s3.multipart.size"),
      renamed("s3.multipart.part-size-bytes", "s3.multipart.size"),
      renamed("s3.multipart.num-threads", "s3.upload-threads"),
      renamed("s3.connect-timeout", "s3.connect-timeout-ms"),
      property("s3.anonymous"),
      property("s3.instance-metadata"),
      property("s3.sts-endpoint"),
      property("s3.connect-timeout-ms"),
      property("s3.request-timeout-ms"),
      property("s3.retry-total-ms"),
      property("s3.upload-threads"),
      not_needed("s3.staging-dir", "files are uploaded while they grow"),
      not_needed("s3.multipart.threshold", "files are uploaded while they grow"),
      not_needed("s3.checksum-enabled", "every upload carries a CRC32C"),
      not_needed("s3.retry.*", "s3.retry-total-ms bounds all tries of a request"),
      not_needed("s3.preload-client-enabled", "connections are opened when needed"),
      not_needed("s3.delete.*", "files are deleted in batches"),
      not_needed("http-client.*", "connections are libcurl's"),
      not_needed("include-credentials", "credentials that come with a table are always used"),
      refused("s3.remote-signing-enabled", "requests are signed here, with own or vended credentials"),
      refused("s3.sse.*", kEncryption),
      refused("s3.acl", "objects belong to the bucket's owner; set the bucket's policy"),
      refused("s3.access-grants.*", "give keys, a profile or a web identity"),
      refused("s3.access-points.*", "name the access point as the bucket"),
      refused("s3.use-arn-region-enabled", "set s3.region"),
      refused("s3.acceleration-enabled", "set s3.endpoint to the accelerated address"),
      refused("s3.dualstack-enabled", "set s3.endpoint to the dual-stack address"),
      refused("s3.write.*", "tags and storage classes are set by the bucket's lifecycle rules"),
      refused("s3.signer*", "requests are signed here"),
      refused("client.credentials-provider", "classes of Java are not loaded: the chain is properties, environment, profile file, web identity, instance metadata"),
      refused("client.factory", "classes of Java are not loaded"),
      refused("client.assume-role.*", "use a profile or a web identity whose role is the one to assume"),
      property("gcs.service.host"),
      property("gcs.project-id"),
      property("gcs.user-project"),
      property("gcs.credentials-file"),
      property("gcs.oauth2.token"),
      property("gcs.oauth2.token-expires-at"),
      property("gcs.no-auth"),
      property("gcs.instance-metadata"),
      not_needed("gcs.channel.*", "files are uploaded in parts of s3.multipart.size"),
      not_needed("gcs.delete.*", "files are deleted in batches"),
      refused("gcs.impersonate.*", "use the credentials of the account itself"),
      refused("gcs.encryption-key", kEncryption),
      refused("gcs.decryption-key", kEncryption),
      refused("adls.*", "Azure's stores are unsupported in this version"),
      refused("hdfs.*", "HDFS is unsupported; there are file, s3 and gs"),
  };
}

}  // namespace

const std::vector<ForeignName>& catalog_names() {
  static const std::vector<ForeignName> names = [] {
    std::vector<ForeignName> all = service_names();
    for (ForeignName& name : store_names()) all.push_back(std::move(name));
    return all;
  }();
  return names;
}

const std::vector<ForeignName>& hadoop_names() {
  constexpr char kClass[] = "the store follows from the scheme of a location";
  static const std::vector<ForeignName> names = {
      renamed("fs.s3a.endpoint", "s3.endpoint"),
      renamed("fs.s3a.endpoint.region", "s3.region"),
      renamed("fs.s3a.access.key", "s3.access-key-id"),
      renamed("fs.s3a.secret.key", "s3.secret-access-key"),
      renamed("fs.s3a.session.token", "s3.session-token"),
      renamed("fs.s3a.path.style.access", "s3.path-style-access"),
      renamed("fs.gs.project.id", "gcs.project-id"),
      renamed("fs.gs.auth.service.account.json.keyfile", "gcs.credentials-file"),
      renamed("google.cloud.auth.service.account.json.keyfile", "gcs.credentials-file"),
      not_needed("fs.s3a.impl", kClass),
      not_needed("fs.s3.impl", kClass),
      not_needed("fs.gs.impl", kClass),
      not_needed("fs.AbstractFileSystem.gs.impl", kClass),
      not_needed("fs.AbstractFileSystem.s3a.impl", kClass),
      not_needed("fs.defaultFS", "tables and warehouses are named with their scheme"),
      not_needed("fs.s3a.connection.*", "connections are libcurl's"),
      not_needed("fs.s3a.threads.*", "`s3.upload-threads`"),
      not_needed("fs.s3a.fast.upload*", "files are uploaded while they grow"),
      not_needed("fs.s3a.committer.*", "Iceberg's commit needs none"),
      refused("fs.s3a.aws.credentials.provider", "classes of Java are not loaded: the chain is properties, environment, profile file, web identity, instance metadata"),
      refused("fs.gs.auth.*", "set gcs.credentials-file or gcs.oauth2.token"),
      refused("google.cloud.auth.*", "set gcs.credentials-file or gcs.oauth2.token"),
      refused("fs.*", "Hadoop is not used; say it by a property of the store (s3.*, gcs.*)"),
      refused("hive.*", "Hive metastores are unsupported in this version"),
      refused("hadoop.*", "Hadoop is not used; leave it out"),
      refused("dfs.*", "HDFS is unsupported; there are file, s3 and gs"),
  };
  return names;
}

void translate_catalog(Conversion& conversion, const std::string& prefix, const Mark& mark, const Node& properties) {
  conversion.draft.set_section(kCatalog);
  translate_map(conversion, catalog_names(), prefix, properties);
  const auto type = conversion.draft.text_of("table.catalog.type");
  const bool is_named = properties.find("type") != nullptr || properties.find("catalog-impl") != nullptr;
  if (!type && !is_named) {
    conversion.problem(mark, prefix + "type", "is missing; Frazil has rest, and jdbc on SQLite");
  }
  if (properties.find("credential") != nullptr && properties.find("token") != nullptr) {
    conversion.problem(properties.find("token")->mark, prefix + "token", "and credential exclude each other: a catalog is told once who asks");
  }
  const Node* login = properties.find("rest.auth.type");
  if (login != nullptr && login->scalar == "google" && properties.find("gcp.auth.credentials-path") == nullptr &&
      properties.find("gcp.auth.instance-metadata") == nullptr) {
    conversion.problem(mark, prefix + "gcp.auth.credentials-path",
                       "is missing: the key file of the service account that logs in, or gcp.auth.instance-metadata: true");
  }
  if (type == "sqlite" && properties.find("uri") == nullptr) conversion.problem(mark, prefix + "uri", "is missing: jdbc:sqlite:FILE");
  if (type == "rest" && properties.find("uri") == nullptr) conversion.problem(mark, prefix + "uri", "is missing: the address of the catalog");
}

void translate_hadoop(Conversion& conversion, const std::string& prefix, const Node& properties) {
  translate_map(conversion, hadoop_names(), prefix, properties);
}

namespace {

bool is_plaintext_elsewhere(const std::optional<std::string>& text) {
  if (!text || !text->starts_with("http://")) return false;
  const auto url = net::parse_url(*text);
  return url.ok() && !net::is_loopback_host(url->host);
}

}  // namespace

void complete_catalog(Conversion& conversion) {
  PipelineDraft& draft = conversion.draft;
  // Its name counts inside of a database file alone.
  if (draft.text_of("table.catalog.type") != "sqlite" && draft.has("table.catalog.name")) draft.erase_property(kCatalog, "name");
  if (draft.text_of("table.catalog.type") == "rest" && is_plaintext_elsewhere(draft.text_of("table.catalog.uri"))) {
    draft.set("table.catalog.allow_plaintext", "true");
    draft.comment("table.catalog.allow_plaintext", "The catalog is reached without TLS, as before.");
    conversion.add({{}, "catalog uri", Fate::kChanged, "it is reached without TLS, which Frazil allows only with `table.catalog.allow_plaintext: true`"});
  }
  if (is_plaintext_elsewhere(draft.property_of(kProperties, "s3.endpoint"))) {
    draft.set("files.allow_plaintext", "true");
    draft.comment("files.allow_plaintext", "The store is reached without TLS, as before.");
    conversion.add({{}, "s3.endpoint", Fate::kChanged, "it is reached without TLS, which Frazil allows only with `files.allow_plaintext: true`"});
  }
}

}  // namespace frazil::app
