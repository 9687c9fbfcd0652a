"""Icons that say whether something is so, emoji, and formulas that are pictures, are text."""

import pytest

from crawler.chrome import strip_chrome

FEATURES = [
    *("Backup", "Calendar", "Telephone", "Domain", "Audit", "Drives", "Queue", "Export"),
    *("Themes", "Offline"),
]
YES_NO = [
    ('<i class="fas fa-check" aria-hidden=true></i>', '<i class="fas fa-xmark"></i>', "✓✗"),
    ("<span class='glyphicon glyphicon-ok'></span>", "<i class='bi bi-x-lg'></i>", "✓✗"),
    ("<svg class=icon><use href=/i.svg#icon-check></svg>", "<svg data-icon=times></svg>", "✓✗"),
    ("<img src=/icons/tick.png width=16 alt=''>", "<img src=/icons/no.png width=16>", "✓✗"),
    ("<input type=checkbox checked disabled>", "<input type=checkbox disabled>", "✓☐"),
    ("<img src=/tick-icon.png>", "<img src=/red-x-icon.png>", "✓✗"),
    ("<i class='bx bx-check'></i>", "<i class='ph ph-x-circle'></i>", "✓✗"),
    ("<img alt='✅' class=emoji>", "<img alt='❌' class=emoji>", "✅❌"),
    ("<div><i class='fa fa-star'></i></div>", "<p><i class='fa fa-star-o'></i></p>", "★☆"),
    ("<svg><title>Yes</title><path d=M1></svg>", "<svg aria-label=No></svg>", ["Yes", "No"]),
    ("<img alt=Yes>", "<span class=n role=img aria-label=No><img alt=No></span>", ["Yes", "No"]),
    ("<i title=Included></i>", "<i title='Not included'></i>", ["Included", "Not included"]),
    ("<meter value=4 max=5></meter>", "<progress value=1></progress>", ["4", "1"]),
]


def table(cells: list[str]) -> str:
    rows = "".join(f"<tr><td>{a}<td>{b}</tr>" for a, b in zip(FEATURES, cells, strict=True))
    return f"<title>Plans</title><main><h1>Plans</h1><table>{rows}</table></main>"


@pytest.mark.parametrize(("yes", "no", "said"), YES_NO)
def test_what_icons_say_in_cells(yes: str, no: str, said: str | list[str]) -> None:
    """Tables that differ in icons alone are other texts, for a person and here."""
    choice = [0, 1, 1, 0, 1, 0, 0, 0, 1, 1]
    text = strip_chrome(table([(yes, no)[which] for which in choice])).text
    want = (f"{name}\n{said[which]}" for name, which in zip(FEATURES, choice, strict=True))
    assert text == "\n".join(["Plans", *want])


@pytest.mark.parametrize(
    "cell",
    [
        "{} <i class='fa fa-check' title=Yes></i>",
        "<i class='fa fa-check' title=Yes></i> {}",
        "<a href=/yes><img alt=Yes></a> {}",
        "{}<i class='fa fa-times' style='display: none'></i>",
        "{}<td><img alt='A photograph of the harbour' width=400 height=300>",
        "{}<td><img alt=[Note] src=note.png><td><img alt=Logo src=logo.png>",
        "{}<td><img alt=spacer src=spacer.gif><img alt='' width=1 src=yes.gif>",
        "{}<td><input type=checkbox name=chosen><input type=text value=12 disabled>",
        "{}<td><a href=/sort><i class='fa fa-arrow-up'></i></a>",
        "{}<td><i class='unchecked no-print'></i>",
        f"{{}}<td><i title='{'A long description. ' * 3}'></i>",
    ],
)
def test_other_pictures_are_none(cell: str) -> None:
    """Beside text, in links and as photographs they repeat what is said, or adorn it."""
    assert (
        strip_chrome(table([cell.format("so it is")] * 10)).text
        == strip_chrome(table(["so it is"] * 10)).text
    )


def test_items() -> None:
    """A cross before an item, and a box that is ticked, count; what may be a bullet does not."""
    items = (
        "<i class='fa fa-times' aria-hidden=true></i> A pool of its own for all the guests",
        "<i class='fa fa-check'></i> A garden with a view of the old harbour",
        "<input type=checkbox checked disabled> A lift up to the fourth floor of the house",
        "<input type=checkbox disabled> A bar that is open until midnight in the summer",
        "<i class='fab fa-x-twitter'></i> A page of its own where the news is told",
        "<span class='icon-twitter-x'></span> A page of its own where the news is told",
        "<span class='flex space-x-4'><b>A room</b></span> with a view of the old harbour",
    )
    found = strip_chrome(
        f"<main><h1>Hotel</h1><ul>{''.join(f'<li>{i}' for i in items)}</ul></main>"
    )
    assert [line[:3] for line in found.text.split("\n")[1:]] == [
        *("✗ A", "A g", "✓ A", "A b", "A p", "A p", "A r"),
    ]


@pytest.mark.parametrize("tag", ["p", "li", "td", "a", "h2"])
@pytest.mark.parametrize("place", ["{}", "{} it was said", "It was {} in the end"])
def test_emoji(tag: str, place: str) -> None:
    """Emoji are the characters that they are, also where a site draws them itself."""
    drawn = "<img class=emoji alt='{}' src=/e.png><img alt=Smile src=/s.png>"
    page = (
        "<main><h1>Votes</h1><p>The votes of all of the members, one by one, as they came in."
        f"</p><{tag}>{place}</{tag}></main>"
    )
    for emoji in ("👍", "👎🏽"):
        blocks = strip_chrome(page.format(drawn.format(emoji))).blocks
        assert blocks[-1].text == place.format(emoji)


@pytest.mark.parametrize(
    "formula",
    [
        "<img class=latex alt='{}' src=a.png>",
        "<img alt='${}$'>",
        "<img class='formulaInl' alt='\\({}\\)'>",
        "<span class=mwe-math-mathml-inline style='display: none'><math><mi>x</mi></math></span>"
        "<img class=mwe-math-fallback-image-inline alt='{{\\displaystyle {}}}'>",
        "<script type='math/tex'>{}</script>",
        "<span class=MathJax>{}</span><script type='math/tex' id=MathJax-Element-1>x</script>",
    ],
)
def test_formulas(formula: str) -> None:
    """Formulas are text, once each, whatever shows them."""
    page = "<main><h1>Lemma</h1><p>Then, as was shown above, {} holds for all of these.</main>"
    expected = "Lemma\nThen, as was shown above, x_{{1}} = y^2 holds for all of these."
    assert strip_chrome(page.format(formula.format("x_{1} = y^2"))).text == expected.format()
