"""The compiled features of blocks are those of numpy, to the last number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from crawler.chrome import extract, strip_chrome
from crawler.chrome.judge import features, model, selection
from crawler.chrome.page import document
from crawler.chrome.page.blocks import TAGS, flat_lines
from crawler.chrome.page.reader import COMPILED
from tests.chrome.hostile import SOUP
from tests.support.pure import load_pure

if not COMPILED:
    pytest.skip("not compiled here: python hatch_build.py", allow_module_level=True)
from crawler.chrome.judge._features import describe_blocks, text_lengths

pure = load_pure(features.__name__)

PAGE = """<title>The wreck that nobody raised, and why</title><body class="page home">
<ul class=menu><li><a href=/1>News</a><li class=on><a href=/2>Sport</a><li><a href=/3>More</a></ul>
<div id=content class="post entry"><h1>The wreck that nobody raised</h1>
<p class=lead>It lay in twenty metres, for a year. Divers knew it well.</p>
<div hidden><p>Subscribe, <a href=/s>now</a>!</div><h2>Why</h2>
<p>茶是世界上最大众化的饮品之一，在许多国家、许多地方都有人喝。茶是世界上最大众化的饮品之一。
<p>البحر، والسفينة، والغواصون، كانوا هناك منذ زمن بعيد، ولم يعرف أحد
<ul><li>Share this<li>Tags: wreck<li>Add to cart<li>About the author<li>Newsletter</ul>
<table class=data><tr><td>1<td>2,000<td>3</table><p>The wreck<p>The wreck</div>
<div class="footer sidebar"><p><a href=/c>© 2026</a> all rights reserved</div>"""


def both(page: document.Document) -> tuple[np.ndarray, np.ndarray]:
    arguments = page.flat, document.title(page), model.load_model().names
    return describe_blocks(*arguments), pure.describe_blocks(*arguments)


def test_a_page() -> None:
    """Each number is the same, and most of them tell some blocks of this page apart."""
    compiled, by_numpy = both(document.parse(PAGE))
    assert np.array_equal(compiled, by_numpy)
    assert compiled.dtype == by_numpy.dtype == np.float32
    assert compiled.shape == (len(document.parse(PAGE).flat.texts), len(model.load_model().hidden))
    assert (compiled != compiled[0]).any(0).mean() > 0.5


@pytest.mark.parametrize(
    "text",
    [
        "यह जहाज़ बीस मीटर की गहराई पर एक साल तक पड़ा रहा। गोताखोर उसे अच्छी तरह जानते थे।",
        "یہ جہاز ایک سال تک بیس میٹر کی گہرائی میں پڑا رہا۔ غوطہ خور اسے اچھی طرح جانتے تھے۔",
        "هل يعرف الغواصون أين تقع السفينة التي غرقت قبل سنوات طويلة في هذا البحر؟",
        "เรือลำนี้จมอยู่ใต้น้ำลึกยี่สิบเมตรเป็นเวลาหนึ่งปี นักดำน้ำรู้จักเรือลำนี้เป็นอย่างดี",
        "ເຮືອລຳນີ້ຈົມຢູ່ໃຕ້ນ້ຳເລິກຊາວແມັດເປັນເວລາໜຶ່ງປີ ນັກດຳນ້ຳຮູ້ຈັກເຮືອລຳນີ້ດີ",
        "សំពៅនេះបានលិចក្នុងជម្រៅម្ភៃម៉ែត្រអស់រយៈពេលមួយឆ្នាំ។ អ្នកមុជទឹកស្គាល់វាយ៉ាងច្បាស់។",
        "ဤသင်္ဘောသည် မီတာနှစ်ဆယ်အနက်တွင် တစ်နှစ်ကြာ နစ်မြုပ်နေခဲ့သည်။ ရေငုပ်သမားများက ကောင်းစွာသိသည်။",
        "መርከቡ ለአንድ ዓመት ያህል በሃያ ሜትር ጥልቀት ላይ ነበር። ጠላቂዎች በደንብ ያውቁታል።",
        "Նավը մեկ տարի շարունակ քսան մետր խորության վրա էր։ Ջրասուզակները լավ գիտեին այն։",
        "Der Taucher sagte über das Schiff in der Bucht: „Wir kennen es alle seit einem Jahr“",
        "潜水員は二十メートルの海に一年のあいだ沈んでいた船のことを「よく知っている」",
    ],
)  # fmt: skip
def test_sentences_of_many_scripts_are_prose(text: str) -> None:
    """Each has its own marks between and behind them, or spaces."""
    for rows in both(document.parse(f"<p>{text}<p>Wreck")):
        assert rows[0, 2] > 0 == rows[1, 2]


def test_what_kind_of_page_it_is() -> None:
    """The last numbers are those of the page: size, prose, links, lists and tags."""
    paragraph = "<p>" + "Tea is made of leaves, and hot water. " * 3  # 24 words
    items = "".join(f"<li><a href=/{i}>item {i}</a>" for i in range(5))
    rows = both(document.parse(f"<body>{paragraph}<p>Cake<ul>{items}</ul>"))[1]
    page = rows[0, -43:]
    assert (rows[:, -43:] == page).all()
    words = 24 + 1 + 10
    assert np.allclose(np.expm1(page[[0, 1, 2]]), [7, words, 24], rtol=1e-5)
    assert np.allclose(page[[3, 4]], [24 / words, 10 / words])
    assert np.allclose(np.expm1(page[[6, 7, 8]]), [24, 1, 1], rtol=1e-5)  # one paragraph is long
    assert np.allclose(np.expm1(page[[9, 11]]), [5, 1], rtol=1e-5)  # the items are five of a kind
    assert np.allclose(page[[10, 12]], [25 / words, 10 / words])
    by_tag = np.zeros((2, len(TAGS)))
    by_tag[:, TAGS.index("p")] = 25 / words, 2 / 7
    by_tag[:, TAGS.index("li")] = 10 / words, 5 / 7
    assert np.allclose(page[13:].reshape(2, -1), by_tag)


@settings(deadline=None, max_examples=400)
@given(SOUP)
def test_soup(html: str) -> None:
    """And on any soup of tags."""
    page = document.parse(f"<p>.{html}")
    assert np.array_equal(*both(page))


def test_lines_without_tags() -> None:
    """Of pages too deep to be judged, and of what follows very long ones, only texts are known."""
    flat = flat_lines(["Tea, and cake.", "Tea", "more" * 90])
    flat.append("the rest of a page")
    assert np.array_equal(*both(document.Document(flat, document.parse("").head, "utf-8")))


def test_without_the_compiled_module(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page has the same main text where nothing is compiled, whoever parsed it."""
    pages: list[Any] = [PAGE, etree.HTML(PAGE)]
    found = [strip_chrome(page) for page in pages]
    monkeypatch.setattr(extract, "describe_blocks", features.describe_blocks)
    monkeypatch.setattr(model, "score_units", model.score_units)
    for name in ("settle_probabilities", "choose_blocks", "raise_inside"):
        monkeypatch.setattr(extract, name, getattr(selection, name))
    for page, compiled in zip(pages, found, strict=True):
        for block, one in zip(strip_chrome(page).blocks, compiled.blocks, strict=True):
            assert block.likelihood == pytest.approx(one.likelihood, rel=1e-4)
            assert block._replace(likelihood=one.likelihood) == one
    assert found[0].text.startswith("The wreck that nobody raised\n")


@given(texts=st.lists(st.text()))
def test_lengths(texts: list[str]) -> None:
    """Characters are counted, of whatever alphabet."""
    assert (
        text_lengths(texts).tolist()
        == features.text_lengths(texts).tolist()
        == list(map(len, texts))
    )
