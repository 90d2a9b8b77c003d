"""Projects and single items, read live."""

from reqall import JsonValue, native_id
from reqall.plugins.sources.jama.items import iso
from reqall.plugins.sources.jama.lookup import find_item
from reqall.plugins.sources.jama.metadata import item_row
from reqall.plugins.sources.jama.results import Item, ProjectList, ProjectRow
from reqall.plugins.sources.jama.source import JamaSource


def list_projects(source: JamaSource) -> ProjectList:
    """List the visible projects by name. Raises SourceError."""
    projects = sorted(source.projects(), key=lambda project: (project.name.casefold(), project.id))
    rows = [ProjectRow(project_id=native_id(each.id), key=each.key, name=each.name) for each in projects]
    return ProjectList(projects=rows, total=len(rows))


def get_item(source: JamaSource, wanted: str) -> Item:
    """Read the item with this id or document key. Raises InputError, NotFoundError, SourceError."""
    row, reader = find_item(source, wanted), source.reader
    document = reader.document(row, f"{source.name}:{row.get('project')}")
    return Item(
        **item_row(reader, row).model_dump(),
        type_id=document.type_id,
        project_id=native_id(document.project_id),
        parent_id=native_id(document.parent_id or ""),
        created=iso(document.created),
        sections=dict(document.sections),
        fields={name: _text(value) for name, value in document.fields.items()},
    )


def _text(value: JsonValue) -> str:
    if isinstance(value, list):
        return ", ".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
