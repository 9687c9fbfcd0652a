"""Texts with errors, and without."""

from __future__ import annotations

from crawler.dedup import (
    jaccard,
    shingle_hashes,
)
from crawler.dedup.text.normaliser import Normaliser

normalise = Normaliser()


CLEAN = """Four score and seven years ago our fathers brought forth on this continent, a new nation,
conceived in Liberty, and dedicated to the proposition that all men are created equal. Now we are
engaged in a great civil war, testing whether that nation, or any nation so conceived and so
dedicated, can long endure. We are met on a great battle-field of that war. We have come to dedicate
a portion of that field, as a final resting place for those who here gave their lives that that
nation might live. It is altogether fitting and proper that we should do this."""


MISTYPED = (
    CLEAN.replace("brought", "brougth")
    .replace("conceived in", "concieved in")
    .replace("proposition", "propostion")
    .replace("endure", "enndure")
    .replace("portion", "poriton")
    .replace("resting", "ressting")
    .replace("altogether", "alltogether")
)


MISREAD = (
    CLEAN.replace("fathers", "fathcrs")
    .replace("continent", "contincnt")
    .replace("nation might", "natiou might")
    .replace("equal", "cqual")
    .replace("testing", "tcstlng")
    .replace("those who", "thosc who")
    .replace("fitting", "fittlng")
)


FOREIGN = {
    "de": "Die Arbeiter haben das Schieferdach am Turm der Kirche gestern noch repariert, aber die "
    "Vögel wollten nicht weichen, und so mussten sie am Ende die Arbeit wieder aufgeben.",
    "fr": "Les ouvriers qui essayaient de réparer le toit de la tour ont été attaqués par des "
    "moineaux et ils ont dû descendre et abandonner leur travail dans la vieille église.",
    "es": "Los obreros que intentaban reparar el tejado de la torre fueron atacados por gorriones "
    "y tuvieron que bajar y abandonar el trabajo en la vieja iglesia del pueblo.",
    "nl": "De werklieden die het dak van de toren wilden herstellen werden door mussen aangevallen "
    "en moesten naar beneden komen en het werk aan de oude kerk opgeven.",
    "ru": "Рабочие чинили крышу башни, но воробьи напали на них, и им пришлось спуститься.",
    "ja": "職人たちは塔の屋根を修理していたが、雀に襲われて降りた。",
}


def similarity(a: str, b: str, size: int = 3) -> float:
    return jaccard(shingle_hashes(a, size=size), shingle_hashes(b, size=size))
