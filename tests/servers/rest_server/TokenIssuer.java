package org.apache.iceberg.rest;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/** OAuth2 client credentials (RFC 6749 section 4.4) with tokens that live as long as the test wants. Any thread. */
final class TokenIssuer {
  record Answer(int status, String json) {}

  private final String id;
  private final String secret;
  private final long lifeSeconds;
  private final Map<String, Long> expiries = new ConcurrentHashMap<>();

  TokenIssuer(String id, String secret, long lifeSeconds) {
    this.id = id;
    this.secret = secret;
    this.lifeSeconds = lifeSeconds;
  }

  Answer issue(String grantType, String clientId, String clientSecret, String authorization) {
    if (!"client_credentials".equals(grantType)) return new Answer(400, "{\"error\":\"unsupported_grant_type\"}");
    if (authorization != null && authorization.startsWith("Basic ")) {
      var pair = new String(Base64.getDecoder().decode(authorization.substring(6)), StandardCharsets.UTF_8).split(":", 2);
      clientId = pair[0];
      clientSecret = pair.length > 1 ? pair[1] : "";
    }
    if (!id.equals(clientId) || !secret.equals(clientSecret)) {
      return new Answer(401, "{\"error\":\"invalid_client\",\"error_description\":\"unknown client or wrong secret\"}");
    }
    String token = UUID.randomUUID().toString();
    expiries.put(token, System.currentTimeMillis() + lifeSeconds * 1000);
    return new Answer(200, "{\"access_token\":\"" + token + "\",\"token_type\":\"bearer\",\"expires_in\":" + lifeSeconds
        + ",\"issued_token_type\":\"urn:ietf:params:oauth:token-type:access_token\"}");
  }

  /** 0 when the token is good; 401 for none or an unknown one, 419 for one whose time is over. */
  int refusal(String authorization) {
    if (authorization == null || !authorization.startsWith("Bearer ")) return 401;
    Long expiry = expiries.get(authorization.substring(7));
    if (expiry == null) return 401;
    return expiry < System.currentTimeMillis() ? 419 : 0;
  }

  /** No token that was issued so far is known any more. */
  void revokeAll() {
    expiries.clear();
  }
}
