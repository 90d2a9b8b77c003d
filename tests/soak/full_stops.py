"""A plugin for the soak tests: a chunker without the long import that cutting at sentences takes."""

import re

from reqall import ChunkDraft, PluginOptions, Registration, hookimpl


class FullStops:
    """Makes a piece of each sentence of the description."""

    def chunk(self, document, budget):
        sentences = re.split(r"(?<=\.) ", document.sections.get("description", ""))
        return [ChunkDraft("description", document.name, sentence) for sentence in sentences]


@hookimpl
def register_chunkers():
    return [Registration("full_stops", "cuts at full stops", lambda _options, _: FullStops(), PluginOptions)]
