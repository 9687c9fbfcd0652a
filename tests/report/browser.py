"""A real browser that notes what a page does, and measures what it looks like."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

# Without windows it takes half the processor's time.
_BROWSERS = ("chromium-headless-shell", "chromium", "google-chrome")
CHROMIUM = next(filter(None, map(shutil.which, _BROWSERS)), None)
DESKTOP, PHONE = (1200, 900), (390, 844)
SCHEMES: list[Any] = ["light", "dark"]

# All texts that can be seen and contrast less than 4.5 : 1 with what is behind them (WCAG 2, AA).
_PALE = """
() => {
  const parse = (color) => (color.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b]
    .map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || color[3] === 1) return color;
    }
    return [255, 255, 255];
  };
  const pale = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    const range = document.createRange();
    range.selectNodeContents(node);
    if (!node.data.trim() || !range.getClientRects().length) continue;
    if (element.closest(".hidden, title, desc")) continue;
    const style = getComputedStyle(element);
    const text = light(parse(element.closest("svg") ? style.fill : style.color));
    const behind = light(ground(element));
    const contrast = (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
    if (contrast < 4.5) pale.push(`${contrast.toFixed(2)} ${node.data.trim().slice(0, 40)}`);
  }
  return pale;
}
"""
# Texts of drawings that are cut at an edge: of the drawing, of what holds it, or of the window.
_CUT = """
() => [...document.querySelectorAll("svg text")].filter((text) => {
  const box = text.getBoundingClientRect();
  for (let at = text.closest("svg"); at; at = at.parentElement) {
    const edge = at.getBoundingClientRect();
    const isOpen = getComputedStyle(at).overflow === "visible" && at !== document.documentElement;
    if (!isOpen && (box.left < edge.left || box.right > edge.right)) return true;
  }
  return false;
}).map((text) => text.textContent)
"""
# Notes each control that gets the focus from now on; how many there are to see.
_WATCH = """
() => {
  const controls = [...document.querySelectorAll("a[href], button, input, select, summary")]
    .filter((one) => one.checkVisibility() && !one.disabled && one.type !== "hidden");
  window.missing = new Set(controls);
  document.addEventListener("focusin", (event) => window.missing.delete(event.target));
  document.activeElement.blur();
  return controls.length;
}
"""


class Visit:
    """A page in the browser and what it did: requests, messages of the console, dialogs."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[str] = []
        self.complaints: list[str] = []
        self._heard: dict[Any, Callable[[Any], None]] = {
            "request": lambda request: self.requests.append(request.url),
            "console": lambda message: self.complaints.append(message.text),
            "pageerror": lambda error: self.complaints.append(str(error)),
            "dialog": lambda dialog: (self.complaints.append("dialog"), dialog.dismiss())[1],
        }
        for event, hear in self._heard.items():
            page.on(event, hear)

    def follow(self, selector: str, key: str | None = None) -> None:
        """Click there, or press the key there, and wait for the page that this leads to."""
        with self.page.expect_navigation():
            self.page.press(selector, key) if key else self.page.click(selector)

    def leave(self) -> None:
        """Leave the page to others, as a new one."""
        self.page.goto("about:blank")
        for event, hear in self._heard.items():
            self.page.remove_listener(event, hear)
        self.page.unroute_all()
        self.page.emulate_media(media="null", color_scheme="null")

    def flaws(self) -> list[str]:
        """What does not fit, is pale or not reached by keyboard, in both sizes and both schemes."""
        found = []
        for size in (DESKTOP, PHONE):
            self.page.set_viewport_size({"width": size[0], "height": size[1]})
            found += [f"{size}: wider than the window"] if self.overflows() else []
            found += [f"{size}: cut: {text}" for text in self.cut_texts()]
            for scheme in SCHEMES:
                self.page.emulate_media(color_scheme=scheme)
                found += [f"{size}, {scheme}: {text}" for text in self.pale_texts()]
            if missing := self.unreached_controls():
                found.append(f"{size}: {missing} controls are not reached")
        return found

    def pale_texts(self) -> list[str]:
        """Texts with too little contrast."""
        found: list[str] = self.page.evaluate(_PALE)
        return found

    def cut_texts(self) -> list[str]:
        """Texts of drawings that do not fit where they stand."""
        found: list[str] = self.page.evaluate(_CUT)
        return found

    def overflows(self) -> bool:
        """Whether the page is wider than the window."""
        found: bool = self.page.evaluate(
            "() => document.documentElement.scrollWidth > document.documentElement.clientWidth"
        )
        return found

    def unreached_controls(self) -> int:
        """How many of the visible controls the tabulator key does not reach."""
        missing: int = self.page.evaluate(_WATCH)
        more = 0
        while missing:
            for _ in range(missing + more):
                self.page.keyboard.press("Tab")
            more = 10  # what scrolls by the keyboard is reached as well
            before, missing = missing, self.page.evaluate("() => window.missing.size")
            if missing == before:
                break
        return missing


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Debian's Chromium; playwright's own is not downloaded."""
    with sync_playwright() as playwright:
        # Its own sandbox does not work for root, as whom tests run in containers.
        # What it asks its makers for in the background is nothing that a page did.
        quiet = ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
        arguments = ["--no-sandbox", "--no-first-run", "--no-proxy-server", *quiet]
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
        browser.new_context().new_page()  # the page of most visits
        yield browser
        browser.close()


@contextmanager
def visit(browser: Browser, size: tuple[int, int] = DESKTOP, **options: Any) -> Iterator[Visit]:
    """A window without cookies; `options` are those of a context of its own."""
    # To make a page takes three times as long as to show a small one.
    context = browser.new_context(**options) if options else browser.contexts[0]
    context.set_default_timeout(30_000)
    seen = Visit(context.new_page() if options else context.pages[0])
    try:
        seen.page.set_viewport_size({"width": size[0], "height": size[1]})
        yield seen
    finally:
        if options:
            context.close()
        else:
            seen.leave()
            context.clear_cookies()
