"""The built-in sources, and the one for tests, keep the contracts that outside ones inherit."""

import json

import pytest

from reqall.testing.contracts import (
    CountContract,
    DeletionsContract,
    LinkChangesContract,
    PresenceContract,
    SourceContract,
    ValidationContract,
    WaitingContract,
)


class TestJama(
    SourceContract,
    CountContract,
    DeletionsContract,
    LinkChangesContract,
    PresenceContract,
    ValidationContract,
    WaitingContract,
):
    """Every ability of the Jama source, on the first project of the demo."""

    @pytest.fixture
    def source(self, build, jama_simulator):
        login = {"client_id": jama_simulator.client_id, "client_secret": jama_simulator.client_secret}
        # What the options take from the environment is given.
        empty = dict.fromkeys(("ca_bundle", "client_cert", "client_key"), "")
        return build("source", "jama", url=jama_simulator.url, requests_per_second=1000, page_size=20, **login, **empty)

    @pytest.fixture
    def items(self, jama_simulator, project):
        """Numbers of items that can be edited, the last ones first: nothing lies below them."""
        number = int(project.id.partition(":")[2])
        found = [item for item in jama_simulator.world.every("items") if item["project"] == number]
        return [item["id"] for item in reversed(found) if item["fields"].get("description")]

    @pytest.fixture
    def edit_document(self, jama_simulator, items):
        def edit():
            jama_simulator.world.clock.advance(60)
            jama_simulator.world.edit(items[0], description="<p>Edited.</p>")
            return f"jama:{items[0]}"

        return edit

    @pytest.fixture
    def delete_document(self, jama_simulator, items):
        def delete():
            jama_simulator.world.clock.advance(60)
            jama_simulator.world.delete(items[1])
            return f"jama:{items[1]}"

        return delete

    @pytest.fixture
    def edit_links(self, jama_simulator, items):
        def edit():
            jama_simulator.world.clock.advance(3600)
            jama_simulator.world.relate(items[0], items[1])
            return f"jama:{items[0]}"

        return edit


LINES = [
    {"_id": "R-1", "title": "Volume sync", "text": "The volume is the same.", "metadata": {"type": "Requirement"}},
    {"_id": 2, "title": "Door", "text": "", "metadata": {"status": "Draft", "modified": "2024-05-01", "owner": "ada"}},
    {
        "_id": "R-3",
        "text": "用户登录超时后系统应当锁定。",
        "metadata": {"created": "2024-05-01T08:00:00+02:00", "safe": True},
    },
    {"_id": "R-4", "title": "Named alone"},
]


class TestJsonl(SourceContract, CountContract, ValidationContract):
    @pytest.fixture
    def source(self, build, tmp_path):
        file = tmp_path / "parts.jsonl"
        file.write_text("".join(f"{json.dumps(line)}\n" for line in LINES), encoding="utf-8")
        return build("source", "jsonl", path=file, page_size=3)

    @pytest.fixture
    def edit_document(self, tmp_path):
        def edit():
            with (tmp_path / "parts.jsonl").open("a", encoding="utf-8") as lines:
                lines.write(json.dumps({"_id": "R-5", "text": "New."}) + "\n")
            return "jsonl:R-5"

        return edit


class TestListSource(SourceContract):
    @pytest.fixture
    def source(self, list_source):
        for number in range(1, 8):
            parent = "list:1" if number > 1 else None
            list_source.put(str(number), f"Text {number}.", parent_id=parent, fields={"owner": "ada"})
        list_source.link("1", "2")
        list_source.link("3", "1", "derives")
        return list_source

    @pytest.fixture
    def edit_document(self, list_source):
        return lambda: list_source.put("3", "Edited.").id
