"""A plugin for the soak tests: a chunker without the long import that cutting at sentences takes."""

import re

from reqall import ChunkDraft, PluginOptions, Registration, hookimpl


class FullStops:
    """Makes a piece of each sentence of the description."""

    def chunk(self, document, budget):
        return pieces(document.name, document.sections.get("description", ""))


def pieces(name, description):
    """Cut a description; without one there is a piece for the name."""
    return [ChunkDraft("description", name, sentence) for sentence in re.split(r"(?<=\.) ", description)]


@hookimpl
def register_chunkers():
    return [Registration("full_stops", "cuts at full stops", lambda _options, _: FullStops(), PluginOptions)]
