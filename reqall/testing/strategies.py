"""Hypothesis strategies for what flows through plugins: documents, links, rankings, texts of queries.

What they draw is what the catalog can hold: no NUL, no halves of surrogate pairs in documents. Texts
of queries are whatever a caller may send.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from hypothesis import strategies as st

from reqall import ChunkRanking, Document, DocumentRanking, Link

ODD_TEXTS = (
    '"volume',
    "volume*",
    "volume AND OR NOT (level",
    "NEAR(volume sync, 2)",
    "{body} : volume ^level + sync -brake",
    "name:volume",
    "-volume",
    "' OR 1=1; --",
    "%_\\",
    "\x00volume\x00",
    "SA-TC-7 3.5. __ -.-",
    "🎉🔋",
    "用户登录超时",
    "Громкость",
    "volume\u202elevel\ufeff",
    "\ud800 volume",
    "volume " * 3000,
    "x" * 20_000,
)
"""Texts that mean something to an engine's query syntax, or are too long, or in other scripts."""

BLANK_TEXTS = ("", " ", "\n\t  ")

DOCUMENT_IDS = ("d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7")
"""Few, so that rankings share some."""

_SYNTAX = ('"', "*", "AND", "OR", "NOT", "(", ")", "NEAR", ":", "-", "^", "{", "}", "'", ";", "\\", "%", "\x00")
_WORDS = ("volume", "level", "sync", "brake", "engine", "login", "timeout", "valve", "sensor", "alarm", "battery")
_TYPES = {"req": "Requirement", "tc": "Test Case", "bug": "Defect"}
_START = datetime(2024, 1, 1, tzinfo=UTC)
_STORABLE = st.characters(exclude_categories=("Cs", "Cc"))


def words(min_size: int = 1, max_size: int = 8) -> st.SearchStrategy[str]:
    """Draw a few words of a small vocabulary, so that texts share some."""
    return st.lists(st.sampled_from(_WORDS), min_size=min_size, max_size=max_size).map(" ".join)


def query_texts() -> st.SearchStrategy[str]:
    """Draw what a user or a language model may search with: words, any characters, syntax of engines."""
    pieces = st.one_of(st.sampled_from(_WORDS), st.sampled_from(_SYNTAX), st.text(max_size=8))
    return st.one_of(
        st.lists(pieces, max_size=8).map(" ".join),
        st.lists(pieces, max_size=8).map("".join),
        st.sampled_from(ODD_TEXTS[:-2]),
        st.text(max_size=40),
    )


def section_texts(max_size: int = 300) -> st.SearchStrategy[str]:
    """Draw clean text of a section: sentences, lines, any script."""
    sentence = words(2, 12).map(lambda text: f"{text.capitalize()}. ")
    return st.one_of(
        st.lists(sentence, max_size=20).map("".join),
        st.text(_STORABLE, max_size=max_size),
        st.text("ab .!?\n\u3002\uff0c字🎉", max_size=2 * max_size),
    )


def times() -> st.SearchStrategy[datetime]:
    """Draw aware times in UTC, to the microsecond."""
    return st.integers(0, 10**14).map(lambda number: _START + timedelta(microseconds=number))


@st.composite
def documents(draw: st.DrawFn, source: str = "list", project_id: str = "list:1") -> Document:
    """Draw a document of a source's project."""
    native = draw(st.integers(1, 10**6))
    type_id = draw(st.sampled_from(sorted(_TYPES)))
    names = st.sampled_from(["description", "test_steps", "rationale", "acceptance_criteria"])
    return Document(
        id=f"{source}:{native}",
        source=source,
        project_id=project_id,
        key=f"P-{type_id.upper()}-{native}",
        type_id=type_id,
        type_name=_TYPES[type_id],
        name=draw(st.one_of(words(0), st.text(_STORABLE, max_size=80))),
        status=draw(st.sampled_from([None, "Draft", "Approved"])),
        sections=draw(st.dictionaries(names, section_texts(), max_size=3)),
        fields=draw(st.dictionaries(st.sampled_from(["priority", "owner"]), words(), max_size=2)),
        created=draw(st.none() | times()),
        modified=draw(st.none() | times()),
    )


@st.composite
def links(draw: st.DrawFn, document_ids: Sequence[str]) -> Link:
    """Draw a link between two of the documents; at least two ids are needed."""
    ends = draw(st.lists(st.sampled_from(list(document_ids)), min_size=2, max_size=2, unique=True))
    return Link(ends[0], ends[1], draw(st.sampled_from(["verifies", "derives", "satisfies"])), draw(st.booleans()))


def scores() -> st.SearchStrategy[float]:
    """Draw scores that are apart by a 64th at least, and often equal: no rounding makes two of them one."""
    return st.one_of(st.integers(-3, 3), st.integers(-(10**6), 10**6)).map(lambda number: number / 64)


def document_rankings(
    document_ids: Sequence[str] = DOCUMENT_IDS, min_size: int = 0
) -> st.SearchStrategy[DocumentRanking]:
    """Draw a ranking of some of the documents, with ties."""
    scored = st.dictionaries(st.sampled_from(list(document_ids)), scores(), min_size=min_size)
    return scored.map(lambda found: DocumentRanking.of(found.items()))


def chunk_rankings(
    document_ids: Sequence[str] = DOCUMENT_IDS, per_document: int = 3
) -> st.SearchStrategy[ChunkRanking]:
    """Draw a ranking of chunks, up to `per_document` of each document; a chunk is always of one document."""
    count = len(document_ids) * per_document
    scored = st.dictionaries(st.integers(0, count - 1), scores())
    return scored.map(
        lambda found: ChunkRanking.of(
            (number + 1, document_ids[number // per_document], score) for number, score in found.items()
        )
    )
