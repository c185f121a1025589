"""A certificate authority of the tests, made with the openssl program; its certificates live two days."""
import pathlib
import ssl
import subprocess

DAYS = "2"


class Authority:
    """ca_file: what clients trust. Files lie in `folder`."""

    def __init__(self, folder, name="tests"):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.ca_file = self.folder / f"{name}.pem"
        self._key = self.folder / f"{name}.key"
        self._run("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", self._key, "-out", self.ca_file,
                  "-days", DAYS, "-subj", f"/CN=authority of {name}", "-addext", "basicConstraints=critical,CA:TRUE",
                  "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def issue(self, host="localhost", days=DAYS):
        """(certificate, key) for a host name; 127.0.0.1 is in it too when the host is localhost."""
        certificate, key, request, extensions = (self.folder / f"{host}.{kind}" for kind in ("crt", "key", "csr", "ext"))
        names = f"DNS:{host}" + (",IP:127.0.0.1" if host == "localhost" else "")
        extensions.write_text(f"subjectAltName={names}\nextendedKeyUsage=serverAuth,clientAuth\nbasicConstraints=CA:FALSE\n")
        self._run("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request, "-subj", f"/CN={host}")
        self._run("x509", "-req", "-in", request, "-CA", self.ca_file, "-CAkey", self._key, "-CAcreateserial", "-out", certificate,
                  "-days", days, "-extfile", extensions)
        return certificate, key

    def server_context(self, host="localhost"):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*self.issue(host))
        return context

    @staticmethod
    def _run(*arguments):
        done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            raise RuntimeError(f"openssl {arguments[0]}: {done.stderr}")
