package org.apache.iceberg.rest;

import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;

/**
 * Iceberg's servlet behind a log of all requests and, when the test wants it, OAuth2.
 *
 * <p>POST /_control/revoke_tokens, which only tests know, makes every issued token unknown.
 */
final class GuardedServlet extends RESTCatalogServlet {
  private static final String TOKEN_PATH = "/v1/oauth/tokens";
  private static final String CONTROL_PATH = "/_control/";

  private final VendingAdapter adapter;
  private final TokenIssuer tokens;  // null: nobody has to log in
  private final RequestLog log;
  private final String base;  // what stands before /v1 in the paths of the log

  GuardedServlet(VendingAdapter adapter, TokenIssuer tokens, RequestLog log, String base) {
    super(adapter);
    this.adapter = adapter;
    this.tokens = tokens;
    this.log = log;
    this.base = base;
  }

  @Override
  protected void service(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
    if (request.getRequestURI().startsWith(CONTROL_PATH)) {
      control(request, response);
      return;
    }
    long start = System.nanoTime();
    long number = log.received(request.getMethod(), base + request.getRequestURI(), request.getQueryString(), request.getHeader("Idempotency-Key"));
    try {
      answer(request, response);
    } finally {
      log.answered(number, response.getStatus(), (System.nanoTime() - start) / 1_000_000);
    }
  }

  private void control(HttpServletRequest request, HttpServletResponse response) throws IOException {
    boolean isKnown = tokens != null && request.getRequestURI().equals(CONTROL_PATH + "revoke_tokens");
    if (isKnown) tokens.revokeAll();
    json(response, isKnown ? 200 : 404, "{}");
  }

  private void answer(HttpServletRequest request, HttpServletResponse response) throws ServletException, IOException {
    if (tokens != null) {
      if (request.getRequestURI().equals(TOKEN_PATH)) {
        var issued = tokens.issue(request.getParameter("grant_type"), request.getParameter("client_id"),
            request.getParameter("client_secret"), request.getHeader("Authorization"));
        json(response, issued.status(), issued.json());
        return;
      }
      int refusal = tokens.refusal(request.getHeader("Authorization"));
      if (refusal != 0) {
        json(response, refusal, "{\"error\":{\"message\":\"" + (refusal == 419 ? "token expired" : "not authorized")
            + "\",\"type\":\"" + (refusal == 419 ? "AuthenticationTimeoutException" : "NotAuthorizedException") + "\",\"code\":" + refusal + "}}");
        return;
      }
    }
    if (adapter.vendsByItself(request.getMethod(), request.getRequestURI())) {
      json(response, 200, adapter.credentialsJson());
      return;
    }
    super.service(request, response);
  }

  private static void json(HttpServletResponse response, int status, String body) throws IOException {
    response.setStatus(status);
    response.setContentType("application/json");
    response.getWriter().write(body);
  }
}
