"""Documents to compare: files, and pages of a server."""

from __future__ import annotations

import pytest


@pytest.fixture
def files(tmp_path):
    """Writes texts into files and gives their names."""

    def write(*texts: str | bytes) -> list[str]:
        names = []
        for i, content in enumerate(texts):
            path = tmp_path / f"{len(list(tmp_path.iterdir()))}-{i}"
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            names.append(str(path))
        return names

    return write
