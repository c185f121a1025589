package org.apache.iceberg.rest;

import java.util.ArrayList;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.iceberg.rest.responses.ConfigResponse;
import org.apache.iceberg.rest.responses.LoadTableResponse;

/**
 * The reference server, with credentials for the store in its answers when a client asks for them (access delegation), and,
 * when the test wants it, with the lifetime of idempotency keys in its configuration: it honours such keys but does not say so.
 */
final class VendingAdapter extends RESTServerCatalogAdapter {
  private final VendedStore store;
  private final String idempotencyKeyLifetime;  // ISO 8601; null: not told

  VendingAdapter(RESTCatalogServer.CatalogContext context, VendedStore store, String idempotencyKeyLifetime) {
    super(context);
    this.store = store;
    this.idempotencyKeyLifetime = idempotencyKeyLifetime;
  }

  @Override
  @SuppressWarnings("unchecked")
  public <T extends RESTResponse> T handleRequest(Route route, Map<String, String> variables, HTTPRequest request,
      Class<T> responseType, Consumer<Map<String, String>> responseHeaders) {
    T response = super.handleRequest(route, variables, request, responseType, responseHeaders);
    if (response instanceof ConfigResponse config) return (T) completed(config);
    if (store.isOn() && response instanceof LoadTableResponse table && isAskedFor(request)) table.config().putAll(store.config());
    return response;
  }

  /** The endpoint that the reference server lacks. */
  boolean vendsByItself(String method, String path) {
    return store.isOn() && method.equals("GET") && path.matches("/v1/namespaces/[^/]+/tables/[^/]+/credentials");
  }

  String credentialsJson() {
    String config = store.config().entrySet().stream()
        .map(entry -> "\"" + entry.getKey() + "\":\"" + entry.getValue() + "\"").collect(Collectors.joining(","));
    return "{\"storage-credentials\":[{\"prefix\":\"" + store.warehouse() + "\",\"config\":{" + config + "}}]}";
  }

  private ConfigResponse completed(ConfigResponse config) {
    var endpoints = new ArrayList<>(config.endpoints());
    if (store.isOn()) endpoints.add(Endpoint.V1_TABLE_CREDENTIALS);
    return ConfigResponse.builder().withDefaults(config.defaults()).withOverrides(config.overrides())
        .withEndpoints(endpoints).withIdempotencyKeyLifetime(idempotencyKeyLifetime).build();
  }

  private static boolean isAskedFor(HTTPRequest request) {
    return request.headers().entries().stream().anyMatch(header -> header.name().equalsIgnoreCase("X-Iceberg-Access-Delegation")
        && header.value().contains("vended-credentials"));
  }
}
