"""Settings of crawls: pages, verdicts, and where the index is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import parsing
from .parsing import setting
from .ranks import parse_order
from .verdict import Kind


@dataclass(frozen=True, kw_only=True)
class CrawlSettings:
    """Settings that may differ between crawls of one index.

    An index stores two of them among its parameters: ``canonical_urls`` and ``prefer``.
    """

    redis_url: str | None = setting(
        None,
        parsing.optional(parsing.text),
        "Server that holds the index: redis://, rediss://, unix://, redis+sentinel:// or "
        "redis+cluster://. Unset: a private server of the project, with its data in "
        "DEDUP_DATA_DIR.",
        is_secret=True,
    )
    namespace: str = setting(
        "dedup", parsing.namespace, "Name of the index; spiders with the same name share one index."
    )
    crawl: str | None = setting(
        None,
        parsing.optional(parsing.text),
        "Name of the crawl. Processes with the same name count as one crawl, even if they "
        "start later; set it for processes that share a queue. Unset: each process is a crawl "
        "of its own.",
    )
    ask_again: int = setting(
        10_000,
        parsing.integer(0, 10_000_000),
        "Number of dropped pages that a crawl remembers, about 2 KB each, until it has seen "
        "their originals. If an original has changed or is gone, its copies are requested "
        "again. 0: none.",
    )
    on_interrupt: str = setting(
        "again",
        parsing.one_of("again", "resume"),
        "After a crawl in a JOBDIR was killed: `again` repeats all its requests, `resume` only "
        "those that Scrapy still has.",
    )
    learn_urls: bool | None = setting(
        None,
        parsing.optional(parsing.boolean),
        "Whether a crawl learns which parts of URLs make no difference, and spares requests "
        "whose pages would be copies; see DEDUP_COPY_DEPTH and DEDUP_FRUITLESS. Unset: only in "
        "crawls of the spider `site`.",
    )
    copy_depth: int = setting(
        6,
        parsing.integer(0, 1000),
        "Number of pages in a row, each found on the one before, that may bring nothing new "
        "before links to more of their kind are no longer followed. 0: no limit. See "
        "DEDUP_LEARN_URLS.",
    )
    fruitless: int = setting(
        2,
        parsing.integer(0, 1000),
        "Limit for sites that only bring copies: after this many fetches in a row for each new "
        "page of the site, plus ten, links found on copies wait until a page is new again. Copies "
        "with few new links count less. 0: no limit. See DEDUP_LEARN_URLS.",
    )
    data_dir: Path = setting(
        ".scrapy/dedup",
        parsing.path,
        "Folder for the data of the private server (see DEDUP_REDIS_URL), the texts for "
        "reports, and pages that passed as `unchecked` and wait to be checked.",
    )
    archive: int = setting(
        10_000,
        parsing.integer(0, 10_000_000),
        "Number of pages, the latest ones, whose texts are kept in DEDUP_DATA_DIR for reports: "
        "about 5 KB on disk each. 0: none.",
    )
    timeout: float = setting(
        10.0, parsing.number(0, 3600), "Seconds to wait for an answer from the server."
    )
    on_error: str = setting(
        "unchecked",
        parsing.one_of("unchecked", "stop"),
        "If the server gives no answer: `unchecked` lets pages pass with that verdict, `stop` "
        "ends the crawl with a non-zero exit code.",
    )
    enabled: bool = setting(
        True, parsing.boolean, "Whether pages are checked. False: all items pass."
    )
    on_unchecked: str = setting(
        "warn",
        parsing.one_of("warn", "stop"),
        "If no item of a crawl has a page that can be checked: `warn` says why at the end, "
        "`stop` also ends the crawl after a hundred such items, with a non-zero exit code.",
    )
    reset: str = setting(
        "no",
        parsing.consent,
        "Whether the crawl starts with an empty index: `1` asks first, `yes` does not. Meant "
        "for one crawl: `-s DEDUP_RESET=1`.",
    )
    page: str = setting(
        "auto",
        parsing.one_of("auto", "item", "response"),
        "Where the page of an item is: `item`, in its fields; `response`, in the response that "
        "it came from; `auto`, in its fields if they have HTML or text, else in the response.",
    )
    files: bool = setting(
        True,
        parsing.boolean,
        "Whether plain text counts as a page, and, with the extra `files` installed, PDF, Word "
        "and EPUB files. The spider `site` fetches these files only with that extra.",
    )
    drop: frozenset[str] = setting(
        frozenset({Kind.EXACT, Kind.NEAR, Kind.REPEATED}),
        parsing.kinds,
        "Verdicts whose items are dropped, and `contained` for pages that a longer one contains.",
    )
    tag_field: str | None = setting(
        "dedup",
        parsing.optional(parsing.text),
        "Item field for the verdict; empty: items are not tagged.",
    )
    tag: str = setting(
        "full",
        parsing.one_of("full", "kind"),
        "Form of the tag: `full`, a dict with all fields of the verdict; `kind`, only its kind "
        "as plain text, for a column of CSV.",
    )
    url_field: str = setting("url", parsing.text, "Item field with the page's URL.")
    html_field: str = setting(
        "html",
        parsing.text,
        "Item field with the page's HTML: str, bytes, a response, a selector, a tree of lxml "
        "or Beautiful Soup, or a document from `chrome.parse`.",
    )
    text_field: str = setting(
        "text",
        parsing.text,
        "Item field with the main text; if it is filled, HTML is not parsed.",
    )
    title_field: str = setting(
        "title",
        parsing.text,
        "Item field for the page's title, the heading of the item's text; filled if the item has "
        "the field and it is empty.",
    )
    date_field: str = setting(
        "date",
        parsing.text,
        "Item field with the date of the page's text: a datetime, or text in ISO 8601 or "
        "e-mail format; see DEDUP_PREFER.",
    )
    canonical_field: str = setting(
        "canonical", parsing.text, "Item field with the URL that the page names as canonical."
    )
    prefer: tuple[str, ...] = setting(
        (),
        parse_order,
        "Which of several copies to keep, if not the first: a list of criteria, of which the "
        "first that differs decides. `canonical`: a page that names no other one as canonical; "
        "`earlier`, `later`: by date; `longest`: by words; `https`; `shortest-url`; an item field "
        "such as `score`: by its number, the largest.",
    )
    extractor: str | Callable[[Any], str] | None = setting(
        None,
        parsing.optional(parsing.function),
        "Function, or its import path, that turns a page's HTML into its main text. Unset: the "
        "extractor of this package.",
    )
    templates: bool = setting(
        True,
        parsing.boolean,
        "Whether blocks that a site repeats on its pages are learnt as its template, shared by "
        "all workers, and cut from main texts.",
    )
    ttl: float | None = setting(
        None,
        parsing.optional(parsing.duration),
        "Time after which a page that no crawl has seen again expires: seconds, or text such "
        "as `12h`, `30d`, `8w`. Unset: never. Of crawls that share an index, the shortest time "
        "holds for all.",
    )
    canonical_urls: bool = setting(
        True,
        parsing.boolean,
        "Whether URLs count as one page if they differ only in what servers ignore: the order "
        "of query arguments, the fragment, the case of escapes. A fragment that begins with "
        "`/` or `!/` counts: browsers show another page. Names that are no URLs stay as they are.",
    )
