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
    log: str = Field(default="${COUNTED_TEXTS}", description="File that gets a line per call")
    seconds_per_text: float = Field(default=0.001, ge=0, description="How long a text takes")


class CountingEmbedder(HashingEmbedder):
    """Writes the hashes of a call's texts into a file before a vector can be stored: nothing escapes the count."""

    on_call = staticmethod(lambda: None)

    def __init__(self, options):
        super().__init__()
        self._options = options

    def embed_documents(self, texts):
        line = f"{' '.join(map(identify, texts))}\n".encode()
        log = os.open(self._options.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        try:
            assert os.write(log, line) == len(line)
        finally:
            os.close(log)
        self.on_call()
        time.sleep(len(texts) * self._options.seconds_per_text)
        return self._embed(texts)


@hookimpl
def register_embedders():
    return [Registration("counting", "counts its texts", lambda options, _: CountingEmbedder(options), CountingOptions)]


def identify(text: str) -> str:
    """Return the hash under which a text is written down."""
    return hashlib.sha256(text.encode()).hexdigest()


def calls(log: Path) -> list[list[str]]:
    """Read the texts of each call, by their hashes."""
    return [line.split() for line in log.read_text(encoding="ascii").splitlines()] if log.exists() else []


def counted(log: Path) -> Counter:
    """Count how often each text was embedded, by its hash."""
    return Counter(text for call in calls(log) for text in call)
