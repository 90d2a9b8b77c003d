"""Components of another company that misbehave in a search, each in its own way."""

import time

from reqall import ChunkRanking, PluginOptions, Registration, hookimpl


class Recaller:
    """Answers as it is told."""

    storage = "external"

    def __init__(self, answer):
        self.answer = answer

    def prepare(self, entries):
        return None

    def apply(self, batch, prepared, tx):
        pass

    def position(self):
        return None

    def recall(self, texts, limit, filters):
        return self.answer(texts)


class Stage:
    """Neither expands nor reranks."""

    def expand(self, query):
        raise ValueError("text of an item")

    def rerank(self, query, passages):
        time.sleep(3600)

    def fuse(self, rankings, weights):
        raise ValueError("text of an item")


def _exits(texts):
    raise SystemExit(3)


def _sleeps(texts):
    time.sleep(3600)


def _lies(texts):
    return [ChunkRanking.of([(1, "jama:no such item", 1.0)]) for _ in texts]


def _offer(name, build):
    return Registration(name, f"{name} for tests", lambda options, services: build(), PluginOptions)


@hookimpl
def register_recallers():
    answers = {"exits": _exits, "sleeps": _sleeps, "lies": _lies}
    return [_offer(name, lambda answer=answer: Recaller(answer)) for name, answer in answers.items()]


@hookimpl
def register_expanders():
    return [_offer("stumbles", Stage)]


@hookimpl
def register_fusers():
    return [_offer("stumbles", Stage)]


@hookimpl
def register_rerankers():
    return [_offer("sleeps", Stage)]
