"""Who may see the web page and what its server bears: strangers, odd requests, lost servers."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest

from crawler.dedup import DedupConfig
from crawler.dedup.store.namespaces import clear_index
from crawler.report.web import server
from crawler.report.web.guard import form_token
from tests.conftest import Server, wait_until
from tests.report.pages import fill, run
from tests.report.serving import TOKEN, Served, served
from tests.report.test_report import THREE
from tests.report.web.visitor import COPY, PATHS, ROOT, overrides


@pytest.mark.parametrize("number", ["x", "-1", "0", "4294967296", "9" * 5000])
def test_a_cluster_that_is_none(site: Served, number: str) -> None:
    """Whatever stands for its number, the answer is that there is none."""
    answer = site.read(f"/cluster/{number}")
    assert (answer.status, "There is no such cluster." in answer.text) == (404, True)


def test_nobody_without_the_token(site: Served) -> None:
    """Nothing of the index is told to who has no token, or a wrong one, in whatever place."""
    for path in PATHS[:-1]:
        assert site.ask(path).status == 403
    assert site.ask("/?token=wrong-token").status == 403
    assert site.ask("/", Cookie=f"dedup-{site.port}=wrong").status == 403
    assert site.ask("/", Authorization="Bearer wrong").status == 403
    assert site.ask("/", Authorization=f"Basic {TOKEN}").status == 403
    assert site.ask(f"/page?url={COPY}&token=%C3%A4").status == 403
    assert "example" not in site.ask("/").text
    assert "dedup" not in site.ask("/static/nothing").text
    assert site.ask("/static/../../app.py").status in (403, 404)
    assert site.ask("/static/%2e%2e/texts.py").status == 404


def test_the_token_becomes_a_cookie(site: Served) -> None:
    """The token leaves the address at once; no script and no other site can use the cookie."""
    answer = site.ask(f"/page?url={COPY}&token={TOKEN}")
    assert answer.status == 303
    assert unquote(answer.headers["location"]) == f"/page?url={COPY}"
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert site.ask("/", Cookie=cookie.partition(";")[0]).status == 200
    assert site.ask(f"//evil.example/?token={TOKEN}").headers["location"].startswith("/evil")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{}", "127.0.0.1.evil.example:{}", "", "[::1", "@127.0.0.1:x"],
)
def test_names_that_were_bent(site: Served, host: str) -> None:
    """A foreign name that is made to mean this machine is not answered, with the token neither."""
    answer = site.read("/", Host=host.format(site.port))
    assert answer.status in (400, 421)
    assert "Overview" not in answer.text


@pytest.mark.parametrize("host", ["localhost:{}", "127.0.0.1:{}", "[::1]:{}", "192.168.1.5:{}"])
def test_own_names(site: Served, host: str) -> None:
    """The machine's own addresses are answered."""
    assert site.read("/", Host=host.format(site.port)).status == 200


def test_headers(site: Served) -> None:
    """Every answer binds the browser: no inline script, no other site, no frame, no cache."""
    for path in ("/", "/nothing", "/static/style.css", "/metrics"):
        for answer in (site.ask(path), site.read(path)):
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "frame-ancestors 'none'" in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("origin", "form", "status"),
    [
        ("{root}", {}, 303),
        (None, {}, 403),
        ("null", {}, 403),
        ("http://evil.example", {}, 403),
        ("{root}", {"form": "wrong"}, 403),
        ("{root}", {"url": "https://nowhere.example/"}, 400),
        ("{root}", {"decision": "explode"}, 400),
        ("{root}", {"url": "x" * 60_000}, 413),
    ],
)
def test_forms_of_others(
    config: DedupConfig, site: Served, origin: str | None, form: dict[str, str], status: int
) -> None:
    """A decision is taken from this page's own forms only, and only about pages there are."""
    whole = {"form": form_token(TOKEN), "url": COPY, "decision": "keep", **form}
    headers = {"Origin": origin.format(root=site.root)} if origin else {}
    answer = site.read("/override", method="POST", form=whole, **headers)
    assert answer.status == status
    assert overrides(config) == ({COPY: "keep"} if status == 303 else {})


@pytest.mark.parametrize("path", ["/nearest", "/prefer"])
def test_other_forms_of_others(site: Served, path: str) -> None:
    """The other forms are taken from this page only, too, and of bounded length."""
    form = {"form": form_token(TOKEN), "url": COPY, "text": "words"}
    assert site.read(path, method="POST", form=form, Origin="http://evil.example").status == 403
    assert (
        site.read(path, method="POST", form={**form, "form": "x"}, Origin=site.root).status == 403
    )
    long = {**form, "text": "x" * 3_000_001}
    assert site.read(path, method="POST", form=long, Origin=site.root).status == 413
    many = {**form, **{str(n): "x" for n in range(20)}}
    assert site.read(path, method="POST", form=many, Origin=site.root).status == 400
    assert site.ask(path, method="POST", form=form, Origin=site.root).status == 403


@pytest.mark.parametrize(
    "path",
    [
        "/stories?t=nan", "/stories?t=0", "/stories?t=9&page=9", "/threshold?t=0.5001",
        "/threshold?t=nan", "/threshold?t=inf", "/threshold?t=-1", "/threshold?t=x",
        "/decisions?page=0", "/decisions?page=99999999999", "/decisions?page=%C2%B2",
        "/clusters?page=x",
        "/cluster/999999999", "/cluster/99999999999999999999", "/page", "/search?q=%00%ff",
        "/page?url=%ed%a0%80",
    ],
)  # fmt: skip
def test_odd_requests(site: Served, path: str) -> None:
    """What no link says is answered all the same, with a page and no fault of the server."""
    answer = site.read(path.encode().decode("latin-1"))
    assert answer.status in (200, 404)
    assert "Duplicates in dedup" in answer.text


def test_requests_that_never_end(config: DedupConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who begins requests and does not end them is sent away, and others are answered again."""
    monkeypatch.setattr(server, "_PATIENCE", 3.0)
    form = "POST /nearest HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
    form += f"Authorization: Bearer {TOKEN}\r\nContent-Length: 9\r\n\r\nform="
    style = "GET /static/style.css HTTP/1.1\r\nHost: localhost\r\n\r\nGET /"
    half = ["", "GET / HTTP/1.1\r\nHo"]
    with served(config) as site, ExitStack() as stack:
        clients = []

        def is_crowded() -> bool:
            for begun in [form, style, *half * 49]:
                client = socket.create_connection(("127.0.0.1", site.port or 0), timeout=30)
                stack.enter_context(client).sendall(begun.encode())
                clients.append(client)
            return site.read("/").status == 503

        # On a busy machine the first may be sent away before the last have come.
        wait_until(is_crowded)
        wait_until(lambda: site.read("/").status == 200)
        assert all(map(_is_ended, clients))


def _is_ended(client: socket.socket) -> bool:
    """Whether the other side ends a connection before its time-out."""
    try:
        while client.recv(65_536):
            pass
    except ConnectionResetError:
        pass
    except TimeoutError:
        return False
    return True


def test_answers_that_nobody_reads(config: DedupConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asks and takes no answer is sent away; who takes his time gets all."""
    monkeypatch.setattr(server, "_PATIENCE", 4.0)  # the slow one takes five
    number = 2000  # more than a system holds for a client
    asked = b"GET /static/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n" * number
    size = len((ROOT / "crawler/report/static/style.css").read_bytes()) * number
    taken = []
    with served(config) as site, socket.socket() as slow, socket.socket() as idle:
        for client in (slow, idle):
            client.settimeout(30)
            client.connect(("127.0.0.1", site.port or 0))
            client.sendall(asked)
        for client, pause in ((slow, 0.02), (idle, 0)):
            taken.append(0)
            with suppress(ConnectionError):
                while taken[-1] < size and (part := client.recv(65_536)):
                    taken[-1] += len(part)
                    time.sleep(pause)
    assert taken[0] >= size > taken[1]


def test_a_form_whose_sender_goes_away(capfd: pytest.CaptureFixture[str], site: Served) -> None:
    """It is no fault of the server that would be worth a report of its calls."""
    origin = f"Host: localhost\r\nOrigin: http://localhost\r\nAuthorization: Bearer {TOKEN}"
    with socket.create_connection(("127.0.0.1", site.port or 0)) as client:
        client.sendall(f"POST /nearest HTTP/1.1\r\n{origin}\r\nContent-Length: 9\r\n\r\nf".encode())
        time.sleep(0.3)
    time.sleep(0.3)
    assert site.read("/").status == 200
    assert capfd.readouterr().err == ""


def test_odd_callers_are_no_news(capfd: pytest.CaptureFixture[str], site: Served) -> None:
    """Who speaks another protocol gets an answer, and the terminal of whoever serves none."""
    upgrade = (
        b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
    )
    for request in (b"\x16\x03\x01\r\n\r\n", upgrade):
        with socket.create_connection(("127.0.0.1", site.port or 0), timeout=10) as client:
            client.sendall(request)
            assert client.recv(20).startswith(b"HTTP/1.1 4")
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("keeps_files", ["yes", "no"])
def test_a_server_that_is_gone(
    start_server: Callable[..., Server], tmp_path: Path, keeps_files: str
) -> None:
    """While the index gives no answer the page says so, and goes on when it is back.

    Of a server that comes back without its index it is said; an empty index is not made up.
    """
    server = start_server(appendonly=keeps_files, appendfsync="always")
    config = DedupConfig(redis_url=server.url, data_dir=tmp_path, timeout=1)
    with served(config) as site:
        assert site.read("/").status == 200
        server.kill()
        answer = site.read("/")
        assert answer.status == 503
        assert "That did not work" in answer.text
        server.start()
        answer = site.read("/")
        if keeps_files == "yes":
            assert answer.status == 200
        else:
            assert (answer.status, "lost by its server" in answer.text) == (503, True)


@pytest.mark.parametrize("shards", [0, 5])
def test_an_index_that_was_made_anew(config: DedupConfig, cluster_url: str, shards: int) -> None:
    """Its seed is another: nothing in it would be found, so the page says what to do instead.

    It says so of an index that was deleted and is not made again, too, and of one that a server
    without files lost when it was started again.
    """
    if shards:
        config = replace(config, redis_url=cluster_url, shards=shards)
    fill(config, THREE)
    with served(config) as site:
        assert site.read(f"/page?url={COPY}").status == 200
        run(clear_index(config))
        answer = site.read("/")
        assert (answer.status, "deleted, lost by its server or made anew" in answer.text) == (
            503,
            True,
        )
        fill(config, THREE)
        form = {"form": form_token(TOKEN), "text": THREE[0][1]}
        answers = [
            site.read(path) for path in ("/", f"/page?url={COPY}", "/search?q=story", "/metrics")
        ]
        answers.append(site.read("/nearest", method="POST", form=form, Origin=site.root))
        for answer in answers:
            assert (answer.status, "start scrapy dedup serve again" in answer.text) == (503, True)
    with served(config) as site:
        assert site.read(f"/page?url={COPY}").status == 200
