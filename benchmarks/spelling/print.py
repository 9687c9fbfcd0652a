"""Texts printed badly and read again by Tesseract: pairs of a clean and a misread copy.

    python benchmarks/spelling/print.py --texts FILE --fonts FILE... > pairs.jsonl

Texts are one JSON object with ``text`` a line. Needs the program ``tesseract`` with its English
data, and Pillow. Pages of which hardly anything could be read are left out.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import random
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.spelling.paper import shingle_jaccard
from benchmarks.tools.folders import read_rows

SIZES = (13, 14, 15, 16, 18)  # of letters, in pixels; Tesseract likes twice as many
WIDTHS = (45, 60, 70)  # of lines, in characters
MOST_LINES = 60
LEADING = 1.35
QUALITIES = (15, 30, 60)  # of JPEG
READABLE = 0.15  # J3
SECONDS = 60


def print_picture(lines: list[str], font: Path, chooser: random.Random) -> bytes:
    """A picture of *lines* in bad print: askew, blurred, specked, packed with loss."""
    size = chooser.choice(SIZES)
    height = int(size * LEADING)
    page = Image.new("L", (size * 36, height * (len(lines) + 3)), 255)
    pen, letters = ImageDraw.Draw(page), ImageFont.truetype(str(font), size)
    for number, line in enumerate(lines, 1):
        pen.text((size, height * number), line, font=letters, fill=chooser.randint(0, 60))
    page = page.rotate(chooser.uniform(-0.4, 0.4), fillcolor=255)
    page = page.filter(ImageFilter.GaussianBlur(chooser.uniform(0.5, 1.0)))
    specks = np.random.default_rng(chooser.randrange(1 << 32))
    grey = np.asarray(page) + specks.normal(0, chooser.uniform(8, 35), (page.height, page.width))
    if chooser.random() < 0.5:
        grey = np.where(grey > chooser.uniform(130, 190), 255.0, 0.0)
    page = Image.fromarray(grey.clip(0, 255).astype(np.uint8))
    packed, picture = io.BytesIO(), io.BytesIO()
    page.save(packed, "JPEG", quality=chooser.choice(QUALITIES))
    page = Image.open(packed).resize((2 * page.width, 2 * page.height), Image.Resampling.BILINEAR)
    page.save(picture, "PNG")
    return picture.getvalue()


def read_picture(picture: bytes) -> str:
    """What Tesseract reads; nothing if that takes too long."""
    command = ["tesseract", "-", "-", "--psm", "6"]
    environment = os.environ | {"OMP_THREAD_LIMIT": "1"}
    try:
        found = subprocess.run(
            command, input=picture, capture_output=True, env=environment, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return ""
    return found.stdout.decode("utf-8", "replace")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--texts", type=Path, required=True)
    parser.add_argument("--fonts", type=Path, nargs="+", required=True)
    options = parser.parse_args()
    for number, row in enumerate(read_rows(options.texts)):
        chooser = random.Random(number)
        lines = textwrap.wrap(row["text"], chooser.choice(WIDTHS))[:MOST_LINES]
        clean = "\n".join(lines)
        noisy = read_picture(print_picture(lines, chooser.choice(options.fonts), chooser))
        if shingle_jaccard(clean, noisy, 3) >= READABLE:
            print(json.dumps({"clean": clean, "noisy": noisy}), flush=True)


if __name__ == "__main__":
    main()
