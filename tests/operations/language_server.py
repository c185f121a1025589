"""A client of the YAML language server: opens a document, and asks as an editor does."""
import json
import pathlib
import queue
import subprocess
import threading


class LanguageServer:
    def __init__(self, program, folder):
        self.folder = pathlib.Path(folder)
        self.process = subprocess.Popen(["node", program, "--stdio"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.messages = queue.Queue()
        self.last_id = 0
        threading.Thread(target=self._read, daemon=True).start()
        self.ask("initialize", {"processId": None, "rootUri": self.folder.as_uri(), "capabilities": {"textDocument": {
            "completion": {"completionItem": {"snippetSupport": False}}, "hover": {"contentFormat": ["plaintext"]}, "publishDiagnostics": {}}}})
        self._tell("initialized", {})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def open(self, name, text):
        """Opens a document and gives what the server says is wrong with it."""
        self.uri = (self.folder / name).as_uri()
        self._tell("textDocument/didOpen", {"textDocument": {"uri": self.uri, "languageId": "yaml", "version": 1, "text": text}})
        return self._wait(lambda m: m.get("method") == "textDocument/publishDiagnostics" and m["params"]["uri"] == self.uri)["params"]["diagnostics"]

    def completions(self, line, character):
        """Labels at a place, which counts from 0."""
        answer = self.ask("textDocument/completion", {"textDocument": {"uri": self.uri}, "position": {"line": line, "character": character}})
        items = answer["items"] if isinstance(answer, dict) else answer or []
        return {item["label"] for item in items}

    def hover(self, line, character):
        answer = self.ask("textDocument/hover", {"textDocument": {"uri": self.uri}, "position": {"line": line, "character": character}})
        return json.dumps(answer)

    def ask(self, method, params):
        self.last_id += 1
        wanted = self.last_id
        self._send({"id": wanted, "method": method, "params": params})
        return self._wait(lambda m: m.get("id") == wanted and "method" not in m)["result"]

    def _tell(self, method, params):
        self._send({"method": method, "params": params})

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def _wait(self, wanted):
        while True:
            message = self.messages.get(timeout=60)
            if wanted(message):
                return message
            if "method" in message and "id" in message:  # the server asks the editor: it has no settings of its own
                items = message["params"].get("items", []) if isinstance(message.get("params"), dict) else []
                self._send({"id": message["id"], "result": [None] * len(items) if items else None})

    def _read(self):
        while header := self.process.stdout.readline():
            length = 0
            while header.strip():
                if header.lower().startswith(b"content-length:"):
                    length = int(header.split(b":")[1])
                header = self.process.stdout.readline()
            self.messages.put(json.loads(self.process.stdout.read(length)))
