"""A fuser of another company."""

from reqall import DocumentRanking, PluginOptions, Registration, hookimpl


class Alphabetic:
    def fuse(self, rankings, weights):
        found = {ranked.document_id for ranking in rankings for ranked in ranking}
        return DocumentRanking.of((document_id, 0.0) for document_id in found)


@hookimpl
def register_fusers():
    return [Registration("alphabetic", "by id", lambda options, services: Alphabetic(), PluginOptions)]
