"""What a source keeps that can count, tell deletions, look documents up, check itself or say that it waits."""

import threading

import pytest

from reqall import (
    Project,
    Source,
    SupportsCount,
    SupportsDeletions,
    SupportsPresence,
    SupportsValidation,
    SupportsWaiting,
)
from reqall.testing.contracts.source_setting import (
    Edit,
    SourceSetting,
    documents_of,
    first,
    last_watermark,
    needed,
    walk,
)


class CountContract(SourceSetting):
    """Laws of `SupportsCount`. Override the fixture `source`."""

    def test_the_count_is_that_of_the_walk(self, source: Source, project: Project) -> None:
        """A count that differs starts a walk of all ids."""
        assert isinstance(source, SupportsCount), "the source has no method count(project)"
        count, walked = source.count(project), len(documents_of(source, project))
        assert count == walked, f"count() says {count}, the walk holds {walked} documents"


class DeletionsContract(SourceSetting):
    """Laws of `SupportsDeletions`. Override the fixture `source`, and `delete_document` where you can."""

    def test_deletions_are_ids_of_the_source(self, source: Source, project: Project) -> None:
        """The same in two walks; since the last watermark none that the whole history lacks."""
        assert isinstance(source, SupportsDeletions), "the source has no method deleted(project, since)"
        whole = walk(source.deleted(project, None))
        strange = [key for key in whole if not key.startswith(f"{project.source}:")]
        assert not strange, f"deleted() yields ids without {project.source + ':'!r}: {first(strange)}"
        assert set(whole) == set(walk(source.deleted(project, None))), "two walks gave other deletions"
        recent = walk(source.deleted(project, last_watermark(source, project)))
        assert set(recent) <= set(whole), f"deleted since the watermark, yet never: {first(set(recent) - set(whole))}"

    def test_what_is_deleted_is_told(self, source: Source, project: Project, delete_document: Edit | None) -> None:
        """Since the watermark of the walk before; and it is in no walk any more."""
        delete = needed(delete_document, "delete_document")
        assert isinstance(source, SupportsDeletions), "the source has no method deleted(project, since)"
        watermark = last_watermark(source, project)
        deleted = delete()
        assert deleted in walk(source.deleted(project, watermark)), f"{deleted} was deleted, and deleted() lacks it"
        assert deleted not in walk(source.document_ids(project)), f"{deleted} was deleted, and document_ids() has it"


class PresenceContract(SourceSetting):
    """Laws of `SupportsPresence`. Override the fixture `source`."""

    @pytest.fixture
    def absent_id(self, project: Project) -> str:
        """Return an id of the source's form that no document has."""
        return f"{project.source}:999999999"

    def test_it_returns_those_that_exist(self, source: Source, project: Project, absent_id: str) -> None:
        """Of the ids it is asked for, no others."""
        assert isinstance(source, SupportsPresence), "the source has no method present(project, document_ids)"
        ids = first(documents_of(source, project))
        for asked, wanted in ((ids, ids), ([*ids, absent_id], ids), ([absent_id], []), ([], [])):
            found = list(source.present(project, asked).items)
            assert sorted(found) == sorted(wanted), f"of {asked} these exist: {sorted(wanted)}; present() says {found}"

    def test_what_is_deleted_is_absent(self, source: Source, project: Project, delete_document: Edit | None) -> None:
        """It confirms what a list of deletions says."""
        deleted = needed(delete_document, "delete_document")()
        assert isinstance(source, SupportsPresence), "the source has no method present(project, document_ids)"
        assert list(source.present(project, [deleted]).items) == [], f"{deleted} was deleted, and present() returns it"


class ValidationContract(SourceSetting):
    """Laws of `SupportsValidation`. Override the fixture `source`; its settings must be right."""

    @pytest.mark.parametrize("live", [False, True], ids=["offline", "live"])
    def test_right_settings_have_no_problem(self, source: Source, *, live: bool) -> None:
        """One line per problem, and here is none."""
        assert isinstance(source, SupportsValidation), "the source has no method validate(*, live)"
        problems = list(source.validate(live=live))
        assert problems == [], f"the settings of the source under test are right, yet validate() says {problems}"


class WaitingContract(SourceSetting):
    """Laws of `SupportsWaiting`. Override the fixture `source`."""

    def test_who_is_told_can_be_set(self, source: Source, project: Project) -> None:
        """Whoever listens hears texts, and the walk is the same."""
        assert isinstance(source, SupportsWaiting), "the source has no attribute on_wait"
        told: list[str] = []
        lock = threading.Lock()

        def hear(reason: str) -> None:
            with lock:
                told.append(reason)

        before = documents_of(source, project)
        source.on_wait = hear
        assert source.on_wait is hear, "on_wait does not keep whom it is given"
        assert documents_of(source, project) == before, "a walk with a listener gave other documents"
        source.on_wait = None
        assert documents_of(source, project) == before, "a walk without a listener gave other documents"
        assert all(isinstance(reason, str) and reason.strip() for reason in told), f"not reasons to wait: {told}"
