"""The settings of a crawl: where pages come from, what becomes of them, and where the index is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import parsing
from .parsing import setting
from .verdict import Kind


@dataclass(frozen=True, kw_only=True)
class CrawlSettings:
    """The settings that may be others in each crawl."""

    redis_url: str | None = setting(
        None,
        parsing.optional(parsing.text),
        "Server that holds the index: redis://, rediss://, unix://, redis+sentinel:// or "
        "redis+cluster://. Unset: a private server of the project, its data in DEDUP_DATA_DIR.",
        is_secret=True,
    )
    namespace: str = setting(
        "dedup", parsing.namespace, "Name of the index; spiders with the same name share one index."
    )
    crawl: str | None = setting(
        None,
        parsing.optional(parsing.text),
        "Name of the crawl. Processes with one name are one crawl, however late they begin: so let "
        "those that share a queue. Unset: each is a crawl of its own.",
    )
    ask_again: int = setting(
        10_000,
        parsing.integer(0, 10_000_000),
        "Dropped pages that a crawl remembers, some 2 KB each, until it has seen their originals: "
        "where one has changed or is gone, its copies are asked for again. 0: none.",
    )
    on_interrupt: str = setting(
        "again",
        parsing.one_of("again", "resume"),
        "When a crawl in a JOBDIR was killed: `again` makes all its requests again, `resume` only "
        "those that Scrapy still has.",
    )
    learn_urls: bool | None = setting(
        None,
        parsing.optional(parsing.boolean),
        "Whether requests are spared whose pages would be copies, by URL rules that a crawl learns "
        "and shares, and with the limits of DEDUP_COPY_DEPTH and DEDUP_FRUITLESS. Unset: in crawls "
        "of the spider `site`.",
    )
    copy_depth: int = setting(
        3,
        parsing.integer(0, 1000),
        "Pages in a row that bring nothing new, each found on the one before, whose links are "
        "still followed. 0: any number. See DEDUP_LEARN_URLS.",
    )
    fruitless: int = setting(
        2,
        parsing.integer(0, 1000),
        "Fetches in a row, for each page of a site that was new, and ten more, after which what "
        "only copies lead to is left until a page is new again. 0: any number. See "
        "DEDUP_LEARN_URLS.",
    )
    data_dir: Path = setting(
        ".scrapy/dedup",
        parsing.path,
        "Folder of the private server's data (see DEDUP_REDIS_URL), of the texts for reports and "
        "of pages that passed as `unchecked` and wait.",
    )
    archive: int = setting(
        10_000,
        parsing.integer(0, 10_000_000),
        "Pages whose texts are kept in DEDUP_DATA_DIR for reports, those checked last: some 5 KB "
        "of disk each. 0: none.",
    )
    timeout: float = setting(
        10.0, parsing.number(0, 3600), "Seconds to wait for an answer of the server."
    )
    on_error: str = setting(
        "unchecked",
        parsing.one_of("unchecked", "stop"),
        "When the server gives no answer: `unchecked` lets pages pass with that verdict, `stop` "
        "ends the crawl with a non-zero exit code.",
    )
    enabled: bool = setting(
        True, parsing.boolean, "Whether pages are checked at all; False: all items pass unread."
    )
    on_unchecked: str = setting(
        "warn",
        parsing.one_of("warn", "stop"),
        "When no item of a crawl has a page that can be checked: `warn` says at its end why, "
        "`stop` also ends the crawl after a hundred such items, with a non-zero exit code.",
    )
    reset: str = setting(
        "no",
        parsing.consent,
        "Whether the crawl begins with an empty index: `1` asks first, `yes` does not. For one "
        "crawl, as `-s DEDUP_RESET=1`.",
    )
    page: str = setting(
        "auto",
        parsing.one_of("auto", "item", "response"),
        "Where the page of an item is: `item`, in its fields; `response`, in the response it was "
        "yielded from; `auto`, in its fields if they have HTML or text, else in the response.",
    )
    files: bool = setting(
        True,
        parsing.boolean,
        "Whether plain text is a page, and so are PDF, Word and EPUB files where the extra `files` "
        "is installed. The spider `site` fetches all of these with that extra only.",
    )
    drop: frozenset[Kind] = setting(
        frozenset({Kind.EXACT, Kind.NEAR, Kind.REPEATED}),
        parsing.kinds,
        "Verdicts whose items are dropped.",
    )
    tag_field: str | None = setting(
        "dedup",
        parsing.optional(parsing.text),
        "Item field that takes the verdict; empty: items are not tagged.",
    )
    tag: str = setting(
        "full",
        parsing.one_of("full", "kind"),
        "What the tag is: `full`, a dict with the verdict's fields; `kind`, its kind as a plain "
        "text, for a column of CSV.",
    )
    url_field: str = setting("url", parsing.text, "Item field with the page's address.")
    html_field: str = setting(
        "html",
        parsing.text,
        "Item field with the page's HTML: str, bytes, a response, a selector, a tree of lxml or "
        "Beautiful Soup, or what `chrome.parse` returns.",
    )
    text_field: str = setting(
        "text",
        parsing.text,
        "Item field with the main text; where it is filled, HTML is not parsed.",
    )
    title_field: str = setting(
        "title",
        parsing.text,
        "Item field that takes the page's title where the item has it, unfilled.",
    )
    date_field: str = setting(
        "date",
        parsing.text,
        "Item field with the date of the page's text: datetime, ISO 8601 or as in e-mail; see "
        "DEDUP_PREFER.",
    )
    canonical_field: str = setting(
        "canonical", parsing.text, "Item field with the address that the page names as canonical."
    )
    prefer: frozenset[str] = setting(
        frozenset(),
        parsing.some_of("canonical", "earlier"),
        "Which of two copies is kept if not the first to come: `canonical`, the one that the other "
        "names as canonical; `earlier`, the one with the earlier date. The verdict of the page "
        "that comes later names the one that it `replaces`.",
    )
    extractor: str | Callable[[Any], str] | None = setting(
        None,
        parsing.optional(parsing.function),
        "Function, or the path of one, that turns a page's HTML into its main text. Unset: that of "
        "this package.",
    )
    templates: bool = setting(
        True,
        parsing.boolean,
        "Whether blocks that come back on a site's pages are learnt as its template, shared by all "
        "workers and cut from main texts.",
    )
    ttl: float | None = setting(
        None,
        parsing.optional(parsing.duration),
        "Time after which a page that was not seen again counts no more and its memory is given "
        "back: seconds, or a text as `12h`, `30d`, `8w`. Unset: pages count for ever. Of crawls "
        "that share an index the shortest time holds for all.",
    )
    canonical_urls: bool = setting(
        True,
        parsing.boolean,
        "Whether URLs that differ only in what servers ignore (order of the query's arguments, "
        "fragment, case of escapes) are one page. A fragment that begins with `/` or `!/` counts: "
        "a browser shows another page for it.",
    )
