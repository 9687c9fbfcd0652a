"""A response, and items of it."""

from __future__ import annotations

from typing import Any

from scrapy.http import HtmlResponse, Request, Response

from tests.pipelines.stories import ARTICLE, html

PAGE = html(ARTICLE)
URL = "https://a.example/tea"


def response(url: str = URL, kind: type[Response] = HtmlResponse, **meta: Any) -> Any:
    return kind(url, body=PAGE.encode(), request=Request("https://a.example/old", meta=meta))
