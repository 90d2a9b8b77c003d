"""What the tools of a folder do: look things up in the folder as it is now.

Arguments are compared with what was found in the folder, and never made a path: none leads out of it.
"""

from collections import Counter
from datetime import datetime
from typing import TypeVar

from reqall import Document, InputError, NotFoundError
from reqall.plugins.sources.folder.corpus import Corpus
from reqall.plugins.sources.folder.results import (
    FileList,
    FileRow,
    FolderItem,
    FolderItemList,
    FolderItemRow,
    FolderLinkList,
    FolderLinkRow,
    FolderProject,
    FolderProjects,
)
from reqall.plugins.sources.folder.source import FolderSource

T = TypeVar("T")

PAGE = 50
TEXT_CHARACTERS = 20_000
"""Of an item's texts so much is answered."""


def list_projects(source: FolderSource) -> FolderProjects:
    """Return the one project and what of it cannot be read."""
    corpus = source.corpus()
    rows = [
        FolderProject(
            project_id=project.id,
            name=project.name,
            documents=len(corpus.documents),
            files=len(_files(corpus)),
            unreadable=[problem.message for problem in corpus.problems[:PAGE]],
        )
        for project in source.projects()
    ]
    return FolderProjects(projects=rows)


def list_files(source: FolderSource, folder: str, offset: int) -> FileList:
    """Return the files in a folder and below, in order of path."""
    corpus = source.corpus()
    inside = folder.strip("/")
    counts = {path: count for path, count in _files(corpus).items() if not inside or path.startswith(f"{inside}/")}
    if inside and not counts:
        raise NotFoundError(f"no file that was read is in a folder {folder!r}", "Leave folder out to list all files.")
    modified = {entry.file: entry.modified for entry in corpus.entries.values()}
    rows = [FileRow(path=path, documents=counts[path], modified=_shown(modified[path])) for path in sorted(counts)]
    page, following = _page(rows, offset)
    return FileList(total=len(rows), returned=len(page), next_offset=following, files=page)


def get_item(source: FolderSource, item_id: str) -> FolderItem:
    """Return one item; texts beyond the limit are cut."""
    corpus = source.corpus()
    document = _find(corpus, item_id)
    left = TEXT_CHARACTERS
    sections: dict[str, str] = {}
    for name, text in document.sections.items():
        sections[name] = text[:left]
        left -= len(sections[name])
    return FolderItem(
        **_row(corpus, document).model_dump(),
        parent_id=document.parent_id or "",
        modified=_shown(document.modified),
        url=document.url or "",
        sections=sections,
        fields=dict(document.fields),
        truncated=sections != document.sections,
    )


def list_children(source: FolderSource, item_id: str, offset: int) -> FolderItemList:
    """Return the items right below one, in the order of the file; those at the top when no item is named."""
    corpus = source.corpus()
    parent = _find(corpus, item_id).id if item_id else None
    rows = [document for document in corpus.documents if document.parent_id == parent]
    page, following = _page(rows, offset)
    items = [_row(corpus, document) for document in page]
    return FolderItemList(total=len(rows), returned=len(items), next_offset=following, items=items)


def list_relations(source: FolderSource, item_id: str, offset: int) -> FolderLinkList:
    """Return the links of one item, upstream first, and the ids it names that no file has."""
    corpus = source.corpus()
    document = _find(corpus, item_id)
    entry = corpus.entries[document.id]
    by_id = {each.id: each for each in corpus.documents}
    up = [("upstream", link.from_id, link) for link in corpus.links if link.to_id == document.id]
    down = [("downstream", link.to_id, link) for link in corpus.links if link.from_id == document.id]
    page, following = _page([*up, *down], offset)
    relations = [
        FolderLinkRow(direction=way, type=link.type, suspect=link.suspect, item=_row(corpus, by_id[end]))
        for way, end, link in page
    ]
    return FolderLinkList(
        total=len(up) + len(down),
        returned=len(relations),
        next_offset=following,
        relations=relations,
        unknown=[told.partition(" (")[0] for told in corpus.dangling if told.endswith(f" ({entry.place})")],
    )


def _files(corpus: Corpus) -> Counter[str]:
    return Counter(entry.file for entry in corpus.entries.values() if entry.line)


def _find(corpus: Corpus, text: str) -> Document:
    """Find by id, with or without the source's name, or by key in any case; an id goes first."""
    wanted = text.strip()
    for document in corpus.documents:
        if wanted in (document.id, document.id.partition(":")[2]):
            return document
    for document in corpus.documents:
        if wanted.casefold() == document.key.casefold():
            return document
    raise NotFoundError(f"no item {text!r} in the folder", "Search for it, or list the files.")


def _row(corpus: Corpus, document: Document) -> FolderItemRow:
    return FolderItemRow(
        item_id=document.id,
        key=document.key,
        name=document.name,
        type=document.type_name,
        status=document.status or "",
        place=corpus.entries[document.id].place,
    )


def _page(rows: list[T], offset: int) -> tuple[list[T], int]:
    if offset < 0:
        raise InputError(f"offset {offset} is below 0", "Use next_offset of the last answer, or leave it out.")
    end = offset + PAGE
    return rows[offset:end], end if end < len(rows) else -1


def _shown(time: datetime | None) -> str:
    return time.isoformat(timespec="seconds").replace("+00:00", "Z") if time else ""
