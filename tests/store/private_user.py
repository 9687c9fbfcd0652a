"""Uses the private server until it is told to go on, and does then what the test wants."""

import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path

from crawler.dedup.config import DedupConfig
from crawler.dedup.store.server.connect import open_server


async def main(data_dir: str, go_on: str, last_words: str) -> None:
    """Print the server's process id, wait for a writer of the named pipe `go_on`, and go on."""
    async with open_server(DedupConfig(data_dir=data_dir)) as client:  # type: ignore[arg-type]
        print((await client.info("server"))["process_id"], flush=True)
        Path(go_on).read_bytes()  # noqa: ASYNC240
        await client.incr("visits")
        exec(last_words, {"os": os, "subprocess": subprocess, "time": time})


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
