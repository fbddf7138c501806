"""A Hugging Face Hub for tests: as much of its API as uploads and downloads of small folders need."""

import hashlib
import json
from base64 import b64decode
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import unquote, urlsplit


class FakeHub:
    """Serves on a free port.

    Attributes:
        repositories: Name -> {path: content}, of the only revision.
        asked: Method and path of every request.
    """

    def __init__(self):
        self.repositories, self.objects, self.asked = {}, {}, []
        hub = self

        class Handler(_Handler):
            pass

        Handler.hub = hub
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self.server.server_port}"
        Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def commit(self, name):
        """A stand-in for git's hash."""
        files = self.repositories[name]
        text = repr(sorted((path, hashlib.sha1(files[path]).hexdigest()) for path in files))
        return hashlib.sha1(text.encode()).hexdigest()


def _oid(content):
    return hashlib.sha1(content).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    hub = None

    def log_message(self, *_):
        pass

    def do_POST(self):
        path, body = self._begin()
        if path == "/api/repos/create":
            name = json.loads(body)["name"]
            owner = json.loads(body).get("organization") or "me"
            self.hub.repositories.setdefault(f"{owner}/{name}", {})
            return self._json({"url": f"{self.hub.endpoint}/{owner}/{name}"})
        if path == "/api/validate-yaml":
            return self._json({"errors": [], "warnings": []})
        name, _, rest = path.removeprefix("/api/models/").partition("/preupload/")
        if rest:
            files = json.loads(body)["files"]
            modes = [("lfs" if each["size"] > 10_000 else "regular") for each in files]
            told = zip(files, modes, strict=True)
            return self._json(
                {
                    "files": [
                        {"path": f["path"], "uploadMode": m, "shouldIgnore": False} for f, m in told
                    ]
                }
            )
        if path.endswith("/info/lfs/objects/batch"):
            asked = json.loads(body)
            objects = [
                {**each, "actions": {"upload": {"href": f"{self.hub.endpoint}/lfs/{each['oid']}"}}}
                for each in asked["objects"]
            ]
            return self._json({"transfer": "basic", "objects": objects})
        name, _, rest = path.removeprefix("/api/models/").partition("/commit/")
        if rest and name in self.hub.repositories:
            for line in body.decode().splitlines():
                entry = json.loads(line)
                value = entry["value"]
                if entry["key"] == "file":
                    self.hub.repositories[name][value["path"]] = b64decode(value["content"])
                elif entry["key"] == "lfsFile":
                    self.hub.repositories[name][value["path"]] = self.hub.objects[value["oid"]]
            commit = self.hub.commit(name)
            return self._json({"commitUrl": f"{self.hub.endpoint}/{name}", "commitOid": commit})
        return self._missing()

    def do_PUT(self):
        path, body = self._begin()
        oid = path.removeprefix("/lfs/")
        assert hashlib.sha256(body).hexdigest() == oid
        self.hub.objects[oid] = body
        self._answer(200, b"")

    def do_GET(self):
        path, _ = self._begin()
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"]:
            name = "/".join(parts[2:4])
            if name not in self.hub.repositories:
                return self._missing()
            if parts[4:5] == ["tree"]:
                files = self.hub.repositories[name].items()
                tree = [{"path": each, "size": len(c), "oid": _oid(c)} for each, c in files]
                return self._json([{"type": "file", **each} for each in tree])
            files = [{"rfilename": each} for each in self.hub.repositories[name]]
            return self._json({"id": name, "sha": self.hub.commit(name), "siblings": files})
        name, file = "/".join(parts[:2]), "/".join(parts[4:])
        content = self.hub.repositories.get(name, {}).get(file)
        if parts[2:3] != ["resolve"] or content is None:
            return self._missing()
        about = {
            "ETag": f'"{_oid(content)}"',
            "X-Repo-Commit": self.hub.commit(name),
        }
        return self._answer(200, content, about)

    do_HEAD = do_GET  # noqa: N815 - the name that http.server asks for

    def _begin(self):
        path = unquote(urlsplit(self.path).path)
        self.hub.asked.append(f"{self.command} {path}")
        return path, self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _json(self, value):
        self._answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _missing(self):
        self._answer(404, b"{}", {"X-Error-Code": "RepoNotFound"})

    def _answer(self, status, body, headers=()):
        self.send_response(status)
        for name, value in dict(headers).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
