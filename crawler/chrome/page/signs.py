"""The meaning of tag names, roles and class words for their text, as one bit each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from itertools import repeat
from string import ascii_lowercase
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from . import _signs

SIGNS: Final = (
    # said by tags and roles
    "nav", "header", "footer", "aside", "main", "article", "form", "button", "noscript", "hidden",
    "figure", "table", "list", "definitions", "code", "quote", "dialog", "heading",
    # said by class names and ids
    "c_menu", "c_header", "c_footer", "c_sidebar", "c_content", "c_comment", "c_related",
    "c_share", "c_ad", "c_consent", "c_meta", "c_tags", "c_crumbs", "c_pages", "c_signup",
    "c_widget", "c_item", "c_hidden", "c_caption", "c_author", "c_toc", "c_title", "c_modal",
    "c_search", "c_product", "c_review",
)  # fmt: skip
# Signs that the model does not use: consent, dialogs, comments, a book's navigation, and parts that
# a site never shows.
MARKS: Final = ("asked", "modal", "thread", "paged", "unshown")
BIT: Final = {sign: 1 << position for position, sign in enumerate((*SIGNS, *MARKS))}

HIDDEN: Final = BIT["hidden"]
TAG_BITS: Final[dict[str, int]] = {
    tag: BIT[sign]
    for sign, tags in {
        "nav": "nav menu",
        "header": "header",
        "footer": "footer",
        "aside": "aside",
        "main": "main",
        "article": "article",
        "form": "form fieldset",
        "button": "button",
        "noscript": "noscript",
        "figure": "figure figcaption",
        "table": "table",
        "list": "ul ol",
        "definitions": "dl",
        "code": "pre",
        "quote": "blockquote",
        "dialog": "dialog",
        "heading": "h1 h2 h3 h4 h5 h6",
    }.items()
    for tag in tags.split()
}
TAG_BITS["dialog"] |= BIT["modal"]

ROLE_BITS: Final[dict[str, int]] = {
    role: BIT[sign]
    for sign, roles in {
        "nav": "navigation menu menubar tablist toolbar",
        "header": "banner",
        "footer": "contentinfo",
        "aside": "complementary",
        "main": "main",
        "article": "article",
        "form": "form search",
        "dialog": "dialog alertdialog alert",
        "c_search": "search",
    }.items()
    for role in roles.split()
}
ROLE_BITS["dialog"] |= BIT["modal"]
ROLE_BITS["alertdialog"] |= BIT["modal"]

_WORDS: dict[str, int] = {
    word: BIT[sign]
    for sign, words in {
        "c_menu": "nav navbar navigation menu submenu megamenu dropdown topnav sitenav subnav "
        "navi toolbar topbar links linklist skip",
        "c_header": "header head masthead top topper hero",
        "c_footer": "footer foot bottom colophon copyright legal disclaimer",
        "c_sidebar": "sidebar side aside rail secondary sidenav leftcol rightcol sidebox right "
        "left",
        "c_content": "content article post entry story body text main maincontent articlebody "
        "postbody blog page prose markdown rst document richtext bodytext detail details copy "
        "wysiwyg mw newsbody zw",
        "c_comment": "comment comments disqus discussion reply replies respond responses feedback",
        "c_related": "related recommended recommendations recommend more similar popular trending "
        "recent latest also suggested read next previous prev teaser teasers carousel slider "
        "promo promoted outbrain taboola upsell crosssell hot rank ranking",
        "c_share": "share sharing social socials sociable addthis addtoany facebook twitter "
        "follow like likes whatsapp pinterest sns bookmark",
        "c_ad": "ad ads adv advert advertisement advertising sponsor sponsored banner banners "
        "dfp gpt commercial promotion cta offer offers",
        "c_consent": "cookie cookies consent gdpr privacy ccpa onetrust cmp notice notification "
        "alert",
        "c_meta": "meta metadata info byline date time timestamp published dateline postmeta "
        "source views stats",
        "c_tags": "tag tags taglist category categories topics topic keywords label labels terms",
        "c_crumbs": "breadcrumb breadcrumbs crumb crumbs path bread position location",
        "c_pages": "pagination pager paging paginator pagenav pages pagenavi",
        "c_signup": "newsletter subscribe subscription signup signin login register "
        "registration optin paywall account user mailing",
        "c_widget": "widget widgets module plugin box panel block portlet",
        "c_item": "item items card cards list listing grid row tile result results product "
        "products thumb cell",
        "c_hidden": "hidden hide invisible offscreen sr visuallyhidden screen "
        "noprint screenreader collapsed",
        "c_caption": "caption captions credit credits figcaption photo image gallery media "
        "video img picture",
        "c_author": "author authors bio avatar profile contributor writer",
        "c_toc": "toc contents tableofcontents index outline",
        "c_title": "title headline heading subtitle",
        "c_modal": "modal popup overlay lightbox dialog tooltip toast popover flyout drawer",
        "c_search": "search searchbox searchform filter filters facet facets sort",
        "c_product": "price description desc summary features specs specification "
        "specifications overview faq about intro lead abstract excerpt",
        "c_review": "review reviews rating ratings stars testimonial testimonials vote score",
    }.items()
    for word in words.split()
}

for mark, of_mark in {
    "asked": "cookie cookies consent gdpr ccpa onetrust cybot cookiebot cmplz cookieyes cky moove "
    "usercentrics didomi iubenda osano termly truste trustarc klaro tarteaucitron axeptio borlabs "
    "cookieconsent cookiebanner cookiebar cookienotice cookielaw cookiescript",
    "thread": "comment comments commentlist commentarea disqus",
    "paged": "navheader navfooter navhead navfoot",
}.items():
    for word in of_mark.split():
        _WORDS[word] = _WORDS.get(word, 0) | BIT[mark]

_MOST_NAMES: Final = 1 << 15
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_LOWER: Final = bytes(c if c in ascii_lowercase.encode() else ord(" ") for c in range(256))


def words_of(names: str) -> list[str]:
    """Return the words in a class or id attribute, in lower case.

    >>> words_of("post-sidebar mainContent2")
    ['post', 'sidebar', 'main', 'content']
    """
    if names.islower():  # most are, and to split them takes less time than to match words
        return names.encode("utf-8", "replace").translate(_LOWER).decode().split()
    return [word.lower() for word in _WORD.findall(names)]


class Words:
    """The meaning of words in class and id attributes; the latest are cached.

    >>> words = Words(_WORDS)
    >>> words.bits("post-sidebar") == BIT["c_content"] | BIT["c_sidebar"]
    True
    >>> words.bits("gradient")
    0
    >>> Words({"post": 2.0, "menu": -3.0}).mean_values(["post", "postMenu gradient"]).tolist()
    [2.0, -0.3333333333333333]
    """

    def __init__(self, values: Mapping[str, float]) -> None:
        self.values = values
        self.bits = lru_cache(_MOST_NAMES)(self._join_bits)
        self._mean = lru_cache(_MOST_NAMES)(self._mean_of)

    def _join_bits(self, names: str) -> int:
        """Return the values of the whole words in an attribute, each a set of bits, together."""
        bits = 0
        for word in words_of(names):
            bits |= int(self.values.get(word, 0))
        return bits

    def mean_values(self, attributes: list[str]) -> NDArray[np.float64]:
        """Return for each attribute the mean value of its words; 0 if none has a value."""
        return np.fromiter(map(self._mean, attributes), np.float64, len(attributes))

    def _mean_of(self, names: str) -> float:
        words = words_of(names)
        return sum(map(self.values.get, words, repeat(0.0))) / len(words) if words else 0.0


AnyWords: TypeAlias = "Words | _signs.Words"


def look_up(values: Mapping[str, float]) -> AnyWords:
    """Return the compiled words of these values, if available."""
    try:
        from . import _signs
    except ImportError:
        return Words(values)
    return _signs.Words(values)


NAMES: Final = look_up(_WORDS)
