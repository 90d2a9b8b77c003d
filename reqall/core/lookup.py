"""How a user names an item: by document key or id."""

from collections.abc import Sequence

from reqall.core.catalog import Catalog
from reqall.core.changes import ChangeLog
from reqall.core.errors import InputError, NotFoundError
from reqall.core.types import Document, Filters, Project, native_id
from reqall.core.wording import one_of


def find_item(catalog: Catalog, log: ChangeLog, text: str, projects: Sequence[Project], note: str = "") -> Document:
    """Find an item of the projects by its key, in any case, or its id. Raises NotFoundError, InputError.

    `note` says how far the projects' sync is, where that may be why it is not found.
    """
    wanted = text.strip()
    if not wanted:
        raise InputError("no item is named", "give a document key, such as AIP-TC-7, or an id")
    ids = [wanted, *(f"{source}:{wanted}" for source in dict.fromkeys(project.source for project in projects))]
    own = tuple(project.id for project in projects)
    keyed = catalog.with_keys([wanted], Filters(own))
    found = catalog.documents(keyed or ids)
    here = [document for document in found.values() if document.project_id in own]
    if len(here) > 1:
        named = one_of(f"{native_id(document.id)} {document.name}" for document in here)
        raise InputError(f"{text!r} names {len(here)} items", f"use an id: {named}")
    if here:
        return here[0]
    elsewhere = [*found.values(), *catalog.documents(catalog.with_keys([wanted], Filters())).values()]
    shown = one_of(project.key for project in projects)
    if elsewhere:
        raise NotFoundError(
            f"item {text!r} is not in project {shown}", f"it is in {elsewhere[0].project_id}: name that"
        )
    if log.deleted(ids):
        raise NotFoundError(f"item {text!r} was deleted in its source", "name another item")
    raise NotFoundError(
        f"no item {text!r} in project {shown}{f' ({note})' if note else ''}",
        "name a document key or an id as a search shows it; an item newer than the last sync needs another sync",
    )
