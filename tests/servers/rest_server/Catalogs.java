package org.apache.iceberg.rest;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/**
 * Any number of catalogs in one server: /v1/… is the first, /lakes/NAME/v1/… one for each name, made when first asked for.
 * Tests get a catalog of their own without a JVM of their own.
 */
final class Catalogs extends HttpServlet {
  private static final String BASE = "/lakes/";

  private final Function<String, GuardedServlet> maker;  // base path ("" or "/lakes/NAME") → its catalog
  private final Map<String, GuardedServlet> servlets = new ConcurrentHashMap<>();

  Catalogs(Function<String, GuardedServlet> maker) {
    this.maker = maker;
  }

  /** Makes the first catalog, so that a wrong argument ends the start. */
  void prepare() {
    servlets.put("", maker.apply(""));
  }

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
    String path = request.getRequestURI();
    int end = path.startsWith(BASE) ? path.indexOf('/', BASE.length()) : 0;
    String base = path.substring(0, Math.max(end, 0));
    GuardedServlet servlet = servlets.computeIfAbsent(base, maker);
    servlet.service(new HttpServletRequestWrapper(request) {
      @Override
      public String getRequestURI() {
        return path.substring(base.length());
      }
    }, response);
  }
}
