"""What the examples find on the site of the twelve papers is no matter of luck."""

from __future__ import annotations

import runpy
from collections import Counter
from itertools import combinations, pairwise

import pytest

from crawler.chrome import strip_chrome
from crawler.chrome.template.template import LEAST_PAGES
from crawler.dedup import jaccard, shingle_hashes
from tests.support.markdown import ROOT
from tests.support.texts import missed

SITE = runpy.run_path(str(ROOT / "examples" / "news_site" / "__main__.py"))


@pytest.mark.parametrize("edition", [1, 2])
def test_copies_are_found_whatever_the_seed(edition: int) -> None:
    """A story is either so like another that an index finds it, or clearly no copy."""
    pages = [html for path, html in SITE["pages"](edition).items() if not path.endswith("/")]
    shingles = [shingle_hashes(strip_chrome(html).text) for html in pages]
    alike = [jaccard(*pair) for pair in combinations(shingles, 2)]
    assert sum(missed(one) for one in alike if one >= 0.7) < 1e-6
    assert max(alike) == 1


def test_no_part_of_a_story_can_pass_for_the_template_of_the_host() -> None:
    """No two paragraphs come one after the other in as many versions as that takes."""
    printed = [story for paper in SITE["stories"](1).values() for story in paper]
    versions = {(story.title, *story.paragraphs) for story in printed}
    times = Counter(pair for version in versions for pair in pairwise(version))
    assert max(times.values()) < LEAST_PAGES
