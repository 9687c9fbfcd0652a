"""Redirect maps: what web servers make of them, and of addresses that would be more than that."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path

import pytest

from crawler.commands.redirect_maps import RedirectMap, apache_map, nginx_map
from crawler.dedup.inspection.moved import Place, Whereabouts
from tests.conftest import free_port, wait_until
from tests.support.workers import end_with_parent

NOW = datetime(2026, 5, 1, tzinfo=UTC)
# nginx and Apache stand in folders that only root's PATH names.
PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"

# Address of the page, what a browser asks for, where the text lives, what a browser is sent to.
PAGES = [
    ("/plain", "/plain", "https://new.example/plain", "https://new.example/plain"),
    ("/a?x=1&y=%20", "/a?x=1&y=%20", "https://new.example/?x=1", "https://new.example/?x=1"),
    ("/Case", "/Case", "https://new.example/upper", "https://new.example/upper"),
    ("/case", "/case", "https://new.example/lower", "https://new.example/lower"),
    ('/q"; }', "/q%22;%20%7D", 'http://n.example/"; }', "http://n.example/%22;%20%7D"),
    ("/x\nevil y", "/xevil%20y", "http://n.example/x\nGET", "http://n.example/xGET"),
    ("/$host", "/$host", "http://n.example/${host}$1%1", "http://n.example/%24%7Bhost%7D%241%1"),
    ("/$uri", "/$uri", "http://n.example/$uri", "http://n.example/%24uri"),
    ("/\\'#f", "//'", "http://n.example/a\\b'c", "http://n.example/a/b'c"),
    ("/é", "/%C3%A9", "http://ü.example/é", "http://xn--tda.example/%C3%A9"),
    ("/(.*)+[x]", "/(.*)+%5Bx%5D", "http://n.example/(.*)", "http://n.example/(.*)"),
    ("/ " + "l" * 300, "/%20" + "l" * 300, "http://n.example/long", "http://n.example/long"),
    ("/%25{HTTP_HOST}", "/%25%7BHTTP_HOST%7D", "http://n.example/%0a", "http://n.example/%0a"),
    ("/#only", "/", "http://n.example/", "http://n.example/"),
]
# Pages that no map can hold: from, to.
LEFT_OUT = [
    ("/no-scheme", "http://n.example/"),
    ("file:///etc/passwd", "http://n.example/"),
    ("http://old.example/1", "javascript:alert(1)"),
    ("http://old.example/2", "data:text/html,x"),
    ("http://[", "http://n.example/"),
    ('http://a"; return 200 x; #/', "http://n.example/"),
    ("http://old.example/\ud800", "http://n.example/"),
    ("http://a b/", "http://n.example/"),
    ("http://old.example/3", 'http://a"b/'),
    ("http://old.example/4#a", "http://old.example:80/4#b"),
    ("http://old.example/" + "x" * 2000, "http://n.example/"),
    ("http://old.example/circle#a", "http://old.example/end#x"),
    ("http://old.example/end#a", "http://old.example/circle#x"),
]


def page(old: str, new: str) -> Whereabouts:
    place = Place(new, 1.0, 1.0, 1.0, NOW, NOW)
    return Whereabouts(old, "unique", 1, NOW, NOW, NOW, [place])


def hostile_pages(host: str) -> list[Whereabouts]:
    pages = [page(f"http://{host}{old}", new) for old, _, new, _ in PAGES]
    return pages + [page(old, new) for old, new in LEFT_OUT]


def nginx_tokens(text: str) -> Iterator[str]:
    """Words of a configuration as nginx reads them; one in quotes begins with a quote here."""
    at = 0
    word = re.compile(r'\s+|#[^\n]*|([{};])|"((?:[^"\\\n]|\\.)*)"(?=[\s;{])|([^\s"\'{};\\]+)')
    while at < len(text):
        found = word.match(text, at)
        assert found is not None, text[at : at + 80]
        at = found.end()
        if found[1] or found[3]:
            yield found[1] or found[3]
        elif found[2] is not None:
            yield '"' + found[2]


def nginx_entries(made: RedirectMap) -> list[list[str]]:
    """The entries of a map in which there is nothing else."""
    words = list(nginx_tokens(made.text))
    while words[0].startswith("map_hash_"):
        assert words[1].isdigit()
        assert words[2] == ";"
        del words[:3]
    assert words[:6] == [
        "map",
        '"$scheme://$http_host$request_uri',
        "$moved_to",
        "{",
        "default",
        '"',
    ]
    assert words[6] == ";"
    assert words[-1] == "}"
    entries = [words[at : at + 3] for at in range(7, len(words) - 1, 3)]
    for old, new, end in entries:
        assert old[0] == new[0] == '"'
        assert "$" not in new
        assert end == ";"
    return entries


def apache_entries(made: RedirectMap) -> list[list[str]]:
    lines = [line for line in made.text.split("\n") if not line.startswith("#")]
    assert lines.pop() == ""
    assert max(map(len, lines), default=0) < 1024
    return [line.split(" ") for line in lines]


def test_each_page_is_one_entry() -> None:
    """Whatever stands in an address, the map has as many entries as it says, and nothing else."""
    pages = hostile_pages("old.example")
    for made, entries in (
        (nginx_map(pages), nginx_entries(nginx_map(pages))),
        (apache_map(pages), apache_entries(apache_map(pages))),
    ):
        assert made.entries == len(entries) == len(PAGES) + 1  # of a circle one half is broken
        assert made.left_out == len(LEFT_OUT) - 1


def test_random_urls() -> None:
    """No address made of what is special to servers escapes its entry."""
    chooser = random.Random(5)
    letters = "\"'\\;{}$ \n\r\t\0#~%|()[]*^?&<>`\u2028\u202eéa"
    pages = []
    for number in range(3000):
        old, new = ("".join(chooser.choices(letters, k=9)) for _ in range(2))
        pages.append(page(f"http://o.example/{number}{old}", f"http://n.example/{new}"))
    made = nginx_map(pages)
    assert len(nginx_entries(made)) == made.entries == len(pages)
    made = apache_map(pages)
    assert all(len(entry) == 2 for entry in apache_entries(made))
    assert made.entries == len(pages)


def test_the_map_of_apache_has_no_line_that_it_would_cut() -> None:
    """Apache takes the end of a longer line for an entry of its own: such pages are left out."""
    made = apache_map([page("http://o.example/" + "é" * 200, "http://n.example/")])
    assert (made.entries, made.left_out) == (0, 1)


def test_a_page_that_moved_to_another_case_does_not_move_in_a_circle() -> None:
    """nginx compares other entries ignoring case, so it would redirect /tea to itself for ever."""
    ((old, new, _),) = nginx_entries(
        nginx_map([page("http://o.example/Tea", "http://o.example/tea")])
    )
    assert (old, new) == (r'"~^http://o\.example/Tea$', '"http://o.example/tea')


def test_one_page_is_no_pages() -> None:
    """The first line of a map says how many moved, as one would."""
    one = [page("http://o.example/", "http://n.example/")]
    for made in (nginx_map(one), apache_map(one)):
        assert made.text.startswith("# 1 page that moved. In")


def installed(name: str) -> str:
    found = shutil.which(name, path=PATH)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


@contextmanager
def running(command: list[str], port: int) -> Iterator[Callable[[str], str | None]]:
    """A web server; asks it for a path and tells the address that it redirects to."""

    def ask(path: str) -> str | None:
        connection = HTTPConnection("127.0.0.1", port, timeout=60)
        connection.putrequest("GET", path, skip_host=True)
        connection.putheader("Host", f"localhost:{port}")
        connection.endheaders()
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert answer.status in (301, 404)
        return answer.headers["Location"]

    def answers() -> bool:
        try:
            return ask("/nothing") is None
        except ConnectionError:
            assert process.poll() is None, "the server has ended"
            return False

    process = subprocess.Popen(end_with_parent(*command))
    try:
        wait_until(answers)
        yield ask
    finally:
        process.terminate()
        process.wait(timeout=60)


def assert_redirects(ask: Callable[[str], str | None]) -> None:
    for _, asked, _, expected in PAGES:
        answer = ask(asked)
        assert answer is not None, asked
        assert answer.replace("$", "%24") == expected, asked
    for path in ("/nothing", "/plain/", "/plain?x", "/CASE", "/a"):
        assert ask(path) is None


def test_nginx_redirects(tmp_path: Path) -> None:
    """nginx takes the map and sends each address, and no other, to its place."""
    nginx = installed("nginx")
    port = free_port()
    made = nginx_map(hostile_pages(f"localhost:{port}"))
    (tmp_path / "moved.conf").write_text(made.text)
    (tmp_path / "nginx.conf").write_text(
        f"""daemon off; master_process off; pid {tmp_path}/pid; error_log {tmp_path}/errors;
        events {{}}
        http {{
            access_log off; client_body_temp_path {tmp_path}/body; proxy_temp_path {tmp_path}/p;
            fastcgi_temp_path {tmp_path}/f; uwsgi_temp_path {tmp_path}/u;
            scgi_temp_path {tmp_path}/s;
            include {tmp_path}/moved.conf;
            server {{
                listen 127.0.0.1:{port};
                if ($moved_to) {{ return 301 $moved_to; }}
                location / {{ return 404; }}
            }}
        }}"""
    )
    with running([nginx, "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")], port) as ask:
        assert_redirects(ask)


def test_apache_redirects(tmp_path: Path) -> None:
    """Apache, told what the head of the map says, sends each address to its place."""
    apache = installed("apache2")
    port = free_port()
    made = apache_map(hostile_pages(f"localhost:{port}"))
    (tmp_path / "moved.txt").write_text(made.text)
    told = re.findall(r"^#     (.*)", made.text, re.MULTILINE)
    rules = "\n".join(told).replace("/path/of/this/file", str(tmp_path / "moved.txt"))
    modules = "/usr/lib/apache2/modules/mod_"
    (tmp_path / "apache.conf").write_text(
        f"""ServerRoot {tmp_path}
        ServerName localhost
        PidFile {tmp_path}/pid
        ErrorLog {tmp_path}/errors
        LoadModule mpm_event_module {modules}mpm_event.so
        LoadModule authz_core_module {modules}authz_core.so
        LoadModule rewrite_module {modules}rewrite.so
        Listen 127.0.0.1:{port}
        DocumentRoot {tmp_path}/empty
        {rules}
        """
    )
    (tmp_path / "empty").mkdir()
    command = [apache, "-X", "-f", str(tmp_path / "apache.conf")]
    with running(command, port) as ask:
        assert_redirects(ask)
