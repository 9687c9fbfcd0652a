"""Phrases that stand around main texts are known by their words, in many languages."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crawler.chrome import extract
from crawler.chrome.judge import features, model, phrases
from crawler.chrome.judge.phrases import KINDS, MOST_WORDS, PHRASES, READ, first_words, phrase_kinds
from crawler.chrome.page.blocks import flat_lines
from crawler.chrome.page.reader import COMPILED
from tests.support.pure import load_pure


def names(bits: int) -> set[str]:
    return {kind for i, kind in enumerate(KINDS) if bits >> i & 1}


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Related articles", "related"),
        ("  RELATED: Articles (3)", "related"),
        ("12 Comments", "comments"),
        ("Ähnliche Artikel", "related"),
        ("Mots-clés :", "tags"),
        ("Yazdır", "share"),
        ("İLETİŞİM", "legal"),
        ("相关文章", "related"),
        ("Комментарии (2)", "comments"),
        ("関連記事", "related"),
        ("댓글", "comments"),
        ("اقرأ المزيد", "related"),
        ("برچسب‌ها", "tags"),
        ("כתבות נוספות", "related"),
        ("ΣΧΌΛΙΑ (2)", "comments"),
        ("यह भी पढ़ें", "related"),
        ("শেয়ার করুন", "share"),
        ("எங்களைப் பற்றி", "legal"),
        ("ข่าวที่เกี่ยวข้อง", "related"),
        ("Đăng nhập", "signup"),
        ("Baca juga:", "related"),
        ("Усі права захищено", "legal"),
        ("Acest site folosește cookie-uri", "consent"),
        ("Hozzászólások", "comments"),
        ("Lue myös", "related"),
    ],
)
def test_a_phrase(text: str, kind: str) -> None:
    """Case, numbers and signs around and between its words do not count."""
    whole, begins = phrase_kinds(text)
    assert kind in names(whole) & names(begins)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("Posted by Ann on 3 May", "byline"),
        ("© 2026 The Tea Company", "legal"),
        ("来源：新华网", "byline"),
        ("上一篇关于茶的历史", "related"),
        ("We use cookies to learn who reads this site, and how long they stay on it.", "consent"),
    ],
)  # fmt: skip
def test_what_a_text_begins_with(text: str, kind: str) -> None:
    """The longest phrase counts; in a script without spaces, the longest of its first letters."""
    whole, begins = phrase_kinds(text)
    assert names(begins) == {kind}
    assert not whole


def test_other_texts() -> None:
    """A word within another is none, nor is a phrase in the middle."""
    for text in ("Homeward bound", "The comments were kind", "", "12", "茶是世界上", "xrelated"):
        assert phrase_kinds(text) == (0, 0)


def test_the_list() -> None:
    """Each phrase can be met, and stands once among those of its kind."""
    listed: dict[str, list[str]] = {}
    text = Path(phrases.__file__).with_name("phrases.txt").read_text("utf-8")
    for line in filter(None, text.splitlines()):
        if line.startswith("["):
            found = listed.setdefault(line, [])
        else:
            found += [" ".join(first_words(phrase)) for phrase in line.split("|")]
    assert [kind.strip("[]") for kind in listed] == list(KINDS)
    for kind, known in listed.items():
        assert len(known) == len(set(known)), kind
        assert all(known)
        assert max(map(len, known)) <= READ
    assert set().union(*listed.values()) == PHRASES.keys()


def test_the_nearest() -> None:
    """Each block knows how far away a phrase of each kind is, on either side."""
    texts = [
        "Tea.",
        "Comments",
        "Good.",
        "Bad.",
        "Comments of readers, of which there are many " * 2,
    ]
    kind = KINDS.index("comments")
    whole, begins, before, after = (part[:, kind] for part in phrases.describe_phrases(texts))
    assert whole.tolist() == [0, 1, 0, 0, 0]
    assert begins.tolist() == [0, 1, 0, 0, 1]
    none = phrases.FAR
    assert np.allclose(np.expm1(before), [none, 0, 1, 2, 3])  # what is long is no sign for others
    assert np.allclose(np.expm1(after), [1, 0, none, none, none])


@pytest.mark.skipif(not COMPILED, reason="not compiled here")
@given(
    st.lists(
        st.lists(
            st.sampled_from(sorted(PHRASES)[:: len(PHRASES) // 60])
            | st.text(st.sampled_from("aİΣ©²½_9 -相关文章çß’éẞ\u0301"), max_size=9),
            max_size=MOST_WORDS + 2,
        ).map(lambda parts: " ".join(parts) or "."),
        min_size=1,
        max_size=8,
    )
)
def test_compiled(texts: list[str]) -> None:
    """The compiled module finds the same, in upper case, too."""
    texts += [text.upper() for text in texts]
    arguments = flat_lines(texts), "", model.load_model().names
    assert np.array_equal(
        extract.describe_blocks(*arguments),
        load_pure(features.__name__).describe_blocks(*arguments),
    )
