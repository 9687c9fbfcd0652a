"""A folder of this machine as Hadoop's client sees HDFS: what it asks of the WebHDFS REST API."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

_PREFIX = "/webhdfs/v1"


class WebHdfs:
    """Serves `root` on a free port; ``asked`` are the operations and paths that were asked for.

    As of a real name node, what reads or writes data is sent to another address first.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.asked: list[tuple[str, str]] = []
        handler = type("Handler", (_Handler,), {"hdfs": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.url = f"webhdfs://127.0.0.1:{self._server.server_port}"
        self._thread = Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # else each answer waits 40 ms to be acknowledged
    hdfs: WebHdfs

    def do_GET(self) -> None:
        self._answer()

    do_PUT = do_DELETE = do_GET

    def log_message(self, *_: Any) -> None:
        """Say nothing."""

    def _answer(self) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        self.name = unquote(parts.path.removeprefix(_PREFIX)) or "/"
        self.file = self.hdfs.root / self.name.lstrip("/")
        data = b"".join(self._body())
        operation = query["op"].upper()
        self.hdfs.asked.append((operation, self.name))
        try:
            if operation in ("OPEN", "CREATE") and "datanode" not in query:
                self._send(307, Location=f"http://{self.headers['Host']}{self.path}&datanode=true")
                return
            getattr(self, f"_{operation.lower()}")(query, data)
        except (FileNotFoundError, FileExistsError) as error:
            exception = {
                FileNotFoundError: "java.io.FileNotFoundException",
                FileExistsError: "org.apache.hadoop.fs.FileAlreadyExistsException",
            }[type(error)]
            remote = {
                "exception": exception.rpartition(".")[2],
                "javaClassName": exception,
                "message": f"{self.name}: {error.strerror}",
            }
            self._json({"RemoteException": remote}, 404)

    def _body(self) -> Iterator[bytes]:
        if self.headers.get("Transfer-Encoding") != "chunked":
            yield self.rfile.read(int(self.headers.get("Content-Length", 0)))
            return
        while size := int(self.rfile.readline(), 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _send(self, status: int, body: bytes = b"", **headers: str) -> None:
        # Without a content type: to read one, the client in PySpark lacks a part of Jersey.
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _json(self, value: dict[str, Any], status: int = 200) -> None:
        self._send(status, json.dumps(value).encode())

    def _status(self, path: Path, suffix: str = "") -> dict[str, Any]:
        found = path.stat()
        return {
            "pathSuffix": suffix, "type": "DIRECTORY" if path.is_dir() else "FILE",
            "length": 0 if path.is_dir() else found.st_size, "owner": "o", "group": "g",
            "permission": "755", "accessTime": 0, "modificationTime": found.st_mtime_ns // 10**6,
            "blockSize": 1 << 27, "replication": 1, "fileId": found.st_ino, "childrenNum": 0,
            "storagePolicy": 0,
        }  # fmt: skip

    def _getfilestatus(self, query: dict[str, str], data: bytes) -> None:
        self._json({"FileStatus": self._status(self.file)})

    def _liststatus(self, query: dict[str, str], data: bytes) -> None:
        if self.file.is_dir():
            found = [self._status(one, one.name) for one in sorted(self.file.iterdir())]
        else:
            found = [self._status(self.file)]
        self._json({"FileStatuses": {"FileStatus": found}})

    def _getfileblocklocations(self, query: dict[str, str], data: bytes) -> None:
        self._json({"BlockLocations": {"BlockLocation": []}})

    def _open(self, query: dict[str, str], data: bytes) -> None:
        content = self.file.read_bytes()[int(query.get("offset", 0)) :]
        self._send(200, content[: int(query.get("length", len(content)))])

    def _create(self, query: dict[str, str], data: bytes) -> None:
        if self.file.exists() and query.get("overwrite") != "true":
            raise FileExistsError(17, "exists")
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_bytes(data)
        self._send(201)

    def _mkdirs(self, query: dict[str, str], data: bytes) -> None:
        self.file.mkdir(parents=True, exist_ok=True)
        self._json({"boolean": True})

    def _rename(self, query: dict[str, str], data: bytes) -> None:
        target = self.hdfs.root / query["destination"].lstrip("/")
        if target.is_dir():
            target /= self.file.name
        moves = self.file.exists() and target.parent.is_dir() and not target.exists()
        if moves:
            self.file.rename(target)
        self._json({"boolean": moves})

    def _delete(self, query: dict[str, str], data: bytes) -> None:
        there = self.file.exists()
        if self.file.is_dir():
            shutil.rmtree(self.file)
        elif there:
            self.file.unlink()
        self._json({"boolean": there})
