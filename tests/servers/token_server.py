#!/usr/bin/env python3
"""An OAuth2 token endpoint over TLS on loopback, for tests: client credentials for signed JWTs (RS256).

usage: token_server.py DIR PORT CERTIFICATE   (a PEM with key and chain)

DIR gets jwks.json (the public key, for who checks tokens) and issued.jsonl: a line for each request, with what was answered.
What a client gets is told by its id; the secret of each is "canary-token-secret":

    frazil     a good token for five minutes        brief      a good one for BRIEF_SECONDS
    stale      one that has expired                 stranger   one for another audience
    others, or a wrong secret: 401
"""
import base64
import http.server
import json
import pathlib
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

SECRET = "canary-token-secret"
ISSUER = "https://tokens.example.test"
AUDIENCE = "kafka"
BRIEF_SECONDS = 14
LIVES = {"frazil": 300, "brief": BRIEF_SECONDS, "stale": -60, "stranger": 300}


def base64url(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, check=True, capture_output=True).stdout


class Signer:
    """An RSA key in a folder; openssl does the arithmetic."""

    def __init__(self, folder):
        self._key = folder / "token.key"
        openssl("genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", self._key)
        modulus = openssl("rsa", "-in", self._key, "-noout", "-modulus").decode().strip().removeprefix("Modulus=")
        (folder / "jwks.json").write_text(json.dumps({"keys": [{
            "kty": "RSA", "use": "sig", "alg": "RS256", "kid": "k1", "n": base64url(bytes.fromhex(modulus)), "e": "AQAB"}]}))

    def token(self, client):
        now = int(time.time())
        claims = {"iss": ISSUER, "sub": client, "aud": "others" if client == "stranger" else AUDIENCE, "iat": now - 120,
                  "exp": now + LIVES[client], "scope": "kafka"}
        head = base64url(json.dumps({"alg": "RS256", "kid": "k1"}).encode())
        signed = f"{head}.{base64url(json.dumps(claims).encode())}"
        return f"{signed}.{base64url(openssl('dgst', '-sha256', '-sign', self._key, data=signed.encode()))}"


def server(folder, port, certificate):
    signer = Signer(folder)
    lock = threading.Lock()

    class Endpoint(http.server.BaseHTTPRequestHandler):
        def do_POST(self):
            form = urllib.parse.parse_qs(self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode())
            client, _, secret = base64.b64decode(self.headers.get("Authorization", "").removeprefix("Basic ")).decode().partition(":")
            client, secret = urllib.parse.unquote(client), urllib.parse.unquote(secret)
            is_good = client in LIVES and secret == SECRET and form.get("grant_type") == ["client_credentials"]
            token = signer.token(client) if is_good else None
            with lock, open(folder / "issued.jsonl", "a") as issued:
                issued.write(json.dumps({"client": client, "token": token, "scope": form.get("scope")}) + "\n")
            if is_good:
                self.reply(200, {"access_token": token, "token_type": "Bearer", "expires_in": LIVES[client]})
            else:
                self.reply(401, {"error": "invalid_client", "error_description": "unknown client or wrong secret"})

        def reply(self, code, content):
            body = json.dumps(content).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *unused):
            pass

    made = http.server.ThreadingHTTPServer(("127.0.0.1", port), Endpoint)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    made.socket = context.wrap_socket(made.socket, server_side=True, do_handshake_on_connect=False)
    return made


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    server(pathlib.Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]).serve_forever()
