"""Extractors that hold up a load, in a module that its processes import in no time."""

from __future__ import annotations

import os
import signal
import time


def slowly(html: object) -> str:
    """Take some time."""
    time.sleep(0.005)
    return "tea"


def killed(html: object) -> str:
    """Do not survive, as one that takes all memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def endless(html: object) -> str:
    """Never come to an end."""
    while True:
        time.sleep(1)
