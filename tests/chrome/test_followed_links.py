"""Links of a page that lead on, also those that are not seen."""

import pytest

from crawler.chrome import links, parse, strip_chrome


def test_frames_are_followed() -> None:
    """Nothing else leads to the pages of a site that has its menu in one."""
    rest = "<frameset rows=9,*><frame src=/top><frame></frameset><noframes>Your browser</noframes>"
    document = parse(f"<title>Tea</title><frameset cols=9,*><frame src=menu.html>{rest}")
    assert [link.href for link in links(document)] == ["menu.html", "/top"]
    assert strip_chrome(document).text == ""


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<svg><title>Map</title><g><a xlink:href=/n><path/></a><a href=/s></a><a></a></g></svg>",
         ["/n", "/s"]),
        ("<link rel=Next href=/2><link rel=prev href=/0><link rel=stylesheet href=/css>",
         ["/2", "/0"]),
        ("<link rel=alternate hreflang=de href=/de><link rel=alternate type=rss href=/f>", ["/de"]),
        ("<meta http-equiv=Refresh content='0;URL=/a'><meta http-equiv=refresh content='9'>",
         ["/a"]),
        ("<meta http-equiv=refresh content='0; /b'><meta name=refresh content='0;/c'>", ["/b"]),
        ("""<meta http-equiv=refresh content=".5, url = '/d' x">""", ["/d"]),
        ("<meta http-equiv=refresh content='600; URL='>", []),
    ],
)  # fmt: skip
def test_what_leads_on_without_a_link(html: str, expected: list[str]) -> None:
    """Browsers offer it, or go there; and a page may have no other way to its texts."""
    document = parse(f"{html}<p>tea")
    assert [link.href for link in links(document)] == expected
    assert strip_chrome(document).text == "tea"


def test_links_in_drawings_say_whether_to_follow_them() -> None:
    """As all others do."""
    document = parse("<svg><a href=/x rel=nofollow></a><a href=/y></a></svg>")
    assert [link.nofollow for link in links(document)] == [True, False]


def test_links_that_are_not_seen_are_followed() -> None:
    """They are links of the page, and none of its text."""
    document = parse("<p>tea <span style='display:none'><a href=/x>one</a> two</span> time")
    assert [link.href for link in links(document)] == ["/x"]
    assert (document.flat.linked.tolist(), document.flat.links.tolist()) == ([0], [0])
    copy = "<i aria-hidden=true>{}</i>"
    for html in (f"<a href=/>{copy.format('tea')}</a>", copy.format("<a href=/>tea</a>")):
        flat = parse(f"<p>{html}<p>{html} time<p>end").flat
        assert flat.texts == ["tea", "time", "end"]
        assert (flat.linked.tolist(), flat.links[0]) == ([3, 0, 0], 1)
