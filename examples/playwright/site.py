"""``python site.py COMMAND``: pages without text, which a script writes when they are opened.

Serves them on a port of localhost while COMMAND runs; ``{url}`` in it stands for their address.
"""

import subprocess
import sys
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

PAGE = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title></head>
<body><header>{name}</header><main id="app">Please switch on JavaScript.</main>
<script>
const [headline, ...parts] = {parts};
document.getElementById("app").innerHTML =
    `<h1>${{headline}}</h1>` + parts.map(part => `<p>${{part}}</p>`).join("");
</script></body></html>"""
OWLS = [
    "Owls in the clock tower",
    "Two owls have moved into the tower of the town hall, and the clock is wound by night no more.",
    "The council has put off the repair of the roof until the young ones are out of the nest.",
]
BAKERY = [
    "The bakery is open again",
    "The bakery at the corner of the market is open again after a year of repairs to its oven.",
    "Its rolls cost what they did before, and the queue on the first morning went round the block.",
]
PAGES = {"/owls": ("Gazette", OWLS), "/copy": ("Mirror", OWLS), "/bakery": ("Gazette", BAKERY)}


class Handler(BaseHTTPRequestHandler):
    """Answers with a page."""

    def do_GET(self):
        """Send it, or that it is not found."""
        name, parts = PAGES.get(self.path, ("", []))
        self.send_response(200 if parts else 404)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(PAGE.format(name=name, parts=parts).encode())

    def log_message(self, *_):
        """Say nothing."""


def main(command):
    """Serve while the command runs; the exit code is that of the command."""
    with HTTPServer(("127.0.0.1", 0), partial(Handler)) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://localhost:{server.server_address[1]}"
        return subprocess.run([word.replace("{url}", url) for word in command]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
