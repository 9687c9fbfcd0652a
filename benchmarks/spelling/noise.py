"""Made-up typing and scanning errors, at a rate that can be chosen."""

from __future__ import annotations

import random
import re
import textwrap
from collections.abc import Mapping, Sequence

# What scanners read for a letter, as the literature on recognition errors lists it.
MISREAD = {
    "a": ("n", "s", "u"),
    "b": ("h", "6"),
    "c": ("e", "o"),
    "d": ("cl",),
    "e": ("c", "o", "c"),
    "f": ("t",),
    "g": ("q",),
    "h": ("b", "li"),
    "i": ("l", "1", "j"),
    "k": ("h",),
    "l": ("i", "1", "t"),
    "m": ("rn", "in", "ni"),
    "n": ("u", "ii"),
    "o": ("e", "c"),
    "p": ("n",),
    "r": ("i", "t"),
    "s": ("a", "8"),
    "t": ("f", "l"),
    "u": ("n", "ii"),
    "v": ("y",),
    "w": ("vv",),
    "y": ("v",),
    "S": ("8", "B"),
    "I": ("l", "1"),
    "T": ("l", "I"),
    "0": ("o",),
    "1": ("l",),
}
LETTERS_A_WORD = 5
LINE = 40


def mistyped(
    text: str, rate: float, misspellings: Mapping[str, Sequence[str]], chooser: random.Random
) -> str:
    """*text* with that share of its words replaced by misspellings that people made of them."""
    words = list(re.finditer(r"[A-Za-z]+", text))
    known = [word for word in words if word[0].lower() in misspellings]
    chosen = set(chooser.sample(known, min(len(known), round(rate * len(words)))))
    parts = []
    end = 0
    for word in words:
        if word in chosen:
            instead = chooser.choice(misspellings[word[0].lower()])
            parts += [text[end : word.start()], instead]
            end = word.end()
    return "".join([*parts, text[end:]])


def scanned(text: str, rate: float, chooser: random.Random) -> str:
    """*text* as a bad scanner reads it: about that share of the words is wrong.

    Two letters are misread more often than others, as by one page's print; letters, spaces and
    specks get lost or are added; some words are broken at the ends of lines.
    """
    share = rate / LETTERS_A_WORD
    worst = {
        letter: chooser.choice(MISREAD[letter]) for letter in chooser.sample("eonuhcamlits", 2)
    }
    read = []
    for letter in text:
        chance = chooser.random()
        if letter in MISREAD and chance < share * (4 if letter in worst else 0.6):
            read.append(worst.get(letter) or chooser.choice(MISREAD[letter]))
        elif chance > 1 - share * 0.06:
            read.append(chooser.choice(("", letter + chooser.choice(".,'-;:^ "))))
        elif letter != " " or chance < 1 - share * 0.8:
            read.append(letter)
    lines = "\n".join(textwrap.wrap("".join(read), LINE, break_on_hyphens=False))

    def break_word(found: re.Match[str]) -> str:
        if chooser.random() > rate:
            return found[0]
        return f" {found[1]}{chooser.choice(('-', ''))}\n{found[2]}"

    return re.sub(r"\n(\w{3})(\w{3,})", break_word, lines)
