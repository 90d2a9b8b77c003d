"""A plugin for the soak tests: an embedder that takes its time and writes down every text it is given."""

import hashlib
import os
import time
from collections import Counter
from pathlib import Path

from pydantic import Field

from reqall import PluginOptions, Registration, hookimpl
from reqall.testing.fakes import HashingEmbedder


class CountingOptions(PluginOptions):
    log: str = Field(default="${COUNTED_TEXTS}", description="File that gets a line per text")
    seconds_per_text: float = Field(default=0.002, ge=0, description="How long a text takes")


class CountingEmbedder(HashingEmbedder):
    """Writes the hash of each text into a file before its vector can be stored: nothing escapes the count."""

    def __init__(self, options):
        super().__init__()
        self._options = options

    def embed_documents(self, texts):
        lines = "".join(f"{hashlib.sha256(text.encode()).hexdigest()}\n" for text in texts).encode()
        log = os.open(self._options.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            assert os.write(log, lines) == len(lines)
        finally:
            os.close(log)
        time.sleep(len(texts) * self._options.seconds_per_text)
        return self._embed(texts)


@hookimpl
def register_embedders():
    return [Registration("counting", "counts its texts", lambda options, _: CountingEmbedder(options), CountingOptions)]


def counted(log: Path) -> Counter:
    """How often each text was embedded, by its hash."""
    return Counter(log.read_text(encoding="ascii").split()) if log.exists() else Counter()
