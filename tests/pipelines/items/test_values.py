"""Values of many types in the fields of items, and how they are tagged."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field, fields
from urllib.parse import urlsplit

import pytest
from bs4 import BeautifulSoup
from parsel import Selector
from scrapy.http import HtmlResponse, JsonResponse, Response
from scrapy.utils.test import get_crawler

from crawler.addon import Addon
from crawler.dedup import ConfigError, DedupConfig, Verdict
from crawler.pipelines import ExactDuplicate, feeds, resetting
from crawler.pipelines.item_pages.item_page import Missing
from crawler.pipelines.item_pages.origins import Origin, Origins
from crawler.pipelines.item_pages.page_reader import PageReader
from crawler.pipelines.log_format import BriefLogFormatter
from tests.pipelines.items.responses import PAGE, URL, response
from tests.pipelines.stories import ARTICLE, OTHER


class Url:
    """As Pydantic's HttpUrl and yarl's URL are: no text, but one as str."""

    scheme, host = "https", "b.example"

    def __str__(self) -> str:
        return "https://b.example/"


@pytest.mark.parametrize(
    "values",
    [
        {"html": [PAGE]},
        {"html": Selector(PAGE)},
        {"html": Selector(PAGE).css("main")},
        {"html": HtmlResponse("https://b.example/", body=PAGE.encode())},
        {"html": BeautifulSoup(PAGE, "html.parser")},
        {"text": [ARTICLE]},
        {"text": Selector(PAGE).css("p")},
        {"text": Selector(PAGE).css("p::text")},
        {"text": ARTICLE, "url": ["https://b.example/"]},
        {"text": ARTICLE, "url": Url()},
        {"text": ARTICLE, "url": urlsplit("https://b.example/")},
    ],
)
async def test_values_of_many_types(bench, values):
    """Each is the page that it holds, and its copy is found."""
    await bench.process({"url": URL, "text": ARTICLE})
    with pytest.raises(ExactDuplicate) as caught:
        await bench.process({"url": "https://b.example/", **values})
    assert caught.value.verdict.url == "https://b.example/"


@pytest.mark.filterwarnings("ignore:The `__fields__` attribute")  # of an older itemadapter
async def test_pydantic_models(bench, caplog):
    """An HttpUrl is a URL; a verdict that the model refuses is told as that, once."""
    pydantic = pytest.importorskip("pydantic")

    class Page(pydantic.BaseModel, validate_assignment=True):
        url: pydantic.HttpUrl
        text: str
        dedup: dict[str, str] | None = None

    for number, text in enumerate((ARTICLE, OTHER)):
        await bench.process(Page(url=f"https://a.example/{number}", text=text))
    assert bench.stats["dedup/untagged"] == 2
    (message,) = caplog.messages
    assert "has the field 'dedup' but refuses the verdict (dict) in it, with Valid" in message
    assert "DEDUP_TAG" in message


def test_an_item_that_refuses_its_tag_takes_a_plain_one():
    """DEDUP_TAG=kind is a str, which a strict type may well take."""
    assert DedupConfig(tag="kind").tag == "kind"
    with pytest.raises(ConfigError, match="DEDUP_TAG expects one of full, kind"):
        DedupConfig(tag="all")


@pytest.mark.parametrize("count", [1, 100])
async def test_a_crawl_that_stops_when_nothing_can_be_checked(open_bench, count):
    """With DEDUP_ON_UNCHECKED=stop it fails, and goes on no longer than for a hundred items."""
    bench = await open_bench(on_unchecked="stop")
    stopped: list[str] = []
    bench.pipeline.outcome._stop = lambda: stopped.append("stopped")
    bench.pipeline.outcome._fail = lambda: stopped.append("failed")
    for number in range(count):
        await bench.process({"title": number})
    await bench.pipeline.close_spider()
    assert stopped == (["stopped"] if count == 100 else []) + ["failed"]


async def test_a_crawl_that_begins_anew(open_bench, monkeypatch, caplog):
    """DEDUP_RESET deletes the index if somebody agrees; where nobody is there, only by `yes`."""
    bench = await open_bench(namespace="anew", seed=None)
    await bench.process({"url": URL, "text": ARTICLE})
    await bench.pipeline.close_spider()
    bench = await open_bench(namespace="anew", seed=None, reset="yes")
    item = await bench.process({"url": URL, "text": ARTICLE})
    assert item["dedup"]["kind"] == "unique"
    await bench.pipeline.close_spider()
    config = DedupConfig(reset="1")
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    with pytest.raises(ConfigError, match="set DEDUP_RESET=yes"):
        await resetting.reset_if_asked(config)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdin, "readline", lambda: "n\n", raising=False)
    with pytest.raises(ConfigError, match="nothing was deleted"):
        await resetting.reset_if_asked(config)


@dataclass
class Quiet:
    url: str = URL
    html: str = field(default="<p>" * 50_000, repr=False)


@pytest.mark.parametrize("item", [{"url": URL, "html": ["<p>" * 50_000]}, Quiet()])
def test_logs_without_pages(item):
    """A page is told by its beginning and its length; what is short stays as it is."""
    crawler = get_crawler(settings_dict={"ADDONS": {Addon: 500}})
    assert isinstance(crawler.logformatter, BriefLogFormatter)
    spider = crawler._create_spider("x")
    for said in (
        crawler.logformatter.scraped(item, None, spider),
        crawler.logformatter.dropped(item, ExactDuplicate, None, spider),
        crawler.logformatter.item_error(item, ValueError(), None, spider),
    ):
        line = said["msg"] % said["args"]
        assert URL in line
        assert "(150,000 characters)" in line
        assert len(line) < 500
    short = crawler.logformatter.scraped({"url": URL}, None, spider)
    assert (short["msg"] % short["args"]).endswith(str({"url": URL}))


def test_a_project_keeps_its_own_log_formatter():
    """And its own exporter, if it has one."""
    settings = {"ADDONS": {Addon: 500}, "LOG_FORMATTER": "scrapy.logformatter.LogFormatter"}
    crawler = get_crawler(settings_dict=settings)
    assert type(crawler.logformatter) is not BriefLogFormatter


def test_tags_in_parquet():
    """With this type the schema of a batch is the same, whatever verdicts it has."""
    pyarrow = pytest.importorskip("pyarrow")
    tags = [{"kind": "unique", "url": "/a", "cluster": 1}, {"kind": "exact", "duplicate_of": "/a"}]
    schema = pyarrow.schema([("dedup", feeds.arrow_type())])
    tables = [pyarrow.Table.from_pylist([{"dedup": tag}], schema=schema) for tag in tags]
    assert tables[0].schema == tables[1].schema
    assert {one.name for one in fields(Verdict)} == {one.name for one in feeds.arrow_type()}
    assert tables[1]["dedup"][0].as_py()["duplicate_of"] == "/a"


@pytest.mark.parametrize("kind", [HtmlResponse, Response])
@pytest.mark.parametrize(
    ("url", "missing"),
    [("tea", None), ("cake", Missing.OTHER_URL), ("http://[", Missing.OTHER_URL)],
)
def test_an_item_that_names_its_page_without_the_host(
    kind: type[Response], url: str, missing: Missing | None
) -> None:
    """It is of the response with that URL, a file too; a URL that is none is of no response."""
    body = b"%PDF-1.7" if kind is Response else b"<p>Tea"
    origin = Origin(kind("http://a.example/list/tea", body=body), is_alone=True)
    page = PageReader(DedupConfig(files=True), lambda name: None).read({"url": url}, origin)
    assert page.missing is missing
    assert missing is not None or page.url == "http://a.example/list/tea"


@pytest.mark.parametrize(
    ("item", "settings", "missing", "url"),
    [
        ({"text": ARTICLE, "id": 7}, {"url_field": "id"}, None, "7"),
        ({"text": ARTICLE, "id": "7"}, {"url_field": "id"}, None, "7"),
        ({"text": ARTICLE, "id": 7}, {}, Missing.URL, ""),
        ({"text": ARTICLE, "id": True}, {"url_field": "id"}, Missing.URL, ""),
        ({"title": "Tea"}, {}, Missing.LISTING, ""),
    ],
)
def test_items_of_a_list_need_a_url(item, settings, missing, url):
    """A number, as of an API, does for one. If nothing else is missing, the reason says so."""
    stats = Counter()
    reader = PageReader(DedupConfig(**settings), lambda name: stats.update([name]))
    answer = JsonResponse("https://a.example/teas", body=b"{}")
    found = reader.read(item, Origin(answer, is_alone=False))
    assert (found.missing, found.url) == (missing, url)
    field = settings.get("url_field", "url")
    assert stats[f"dedup/missing_field/{field}"] == (missing is Missing.URL)


async def test_what_is_returned_is_not_taken_for_a_later_item():
    """Python gives an object the identity of one that is gone."""
    origins, page = Origins(), response()
    origins.note_passing({"title": 1})
    later = {"title": 2}
    origins.note_origin(later, Origin(page, is_alone=True))
    assert origins.find_origin({"title": 1, "page": 2}) is None
