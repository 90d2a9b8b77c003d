"""The tools that every configured source gets: search and sync, named after the source.

Plain functions over the App, without MCP; the server publishes them beside the source's own.
"""

from functools import partial
from typing import Annotated

from pydantic import BaseModel, Field

from reqall.answers import SearchAnswer, search_answer
from reqall.app import App
from reqall.core.present import shorten
from reqall.core.protocols import Source, SourceTool
from reqall.core.request import SearchRequest
from reqall.setup import check
from reqall.tools_related import related_tools
from reqall.tools_sync import Id, progress_tool, start_tools, status_tool

ProjectId = Annotated[Id, Field(description="Project id, key or name, such as 51 or AIP; several divided by commas")]


TOLD_CHARACTERS = 200
"""How much of a hit's text stands in the text answer; the structured one has more."""

SEARCH = (
    "Find requirements, test cases, defects and other items of initialised {source} projects: hybrid search by words"
    " and by meaning; an exact document key in the query comes first. Give 3 or 4 sub_queries that say the same from"
    " different angles, e.g. query 'how does login timeout work', sub_queries ['login session expiration',"
    " 'authentication timeout policy', 'user inactivity logout']. A project that is not initialised needs"
    " init_{source}_project once."
)


class Check(BaseModel):
    """One line of the check of an installation."""

    level: str = Field(description="ok, note or problem")
    subject: str
    message: str


class SetupAnswer(BaseModel):
    """What is in use and what is in the way."""

    ready: bool = Field(description="No problem was found")
    findings: list[Check]


def tools_for(app: App, source: str) -> list[SourceTool]:
    """List search, near-duplicates, missing links and sync for one configured source."""
    return [_search(app, source), *related_tools(app, source), *start_tools(app, source)]


def shared_tools(app: App) -> list[SourceTool]:
    """List the tools that are there once, whatever the sources."""
    return [progress_tool(app), status_tool(app), _validate(app)]


def _search(app: App, source: str) -> SourceTool:
    config = app.config.pipelines.get(app.pipeline_name.value, next(iter(app.config.pipelines.values())))

    def search(
        project_id: ProjectId,
        query: Annotated[str, Field(description="What to find: a question, a description or a document key")],
        sub_queries: Annotated[
            list[str], Field(description="3 or 4 rewrites of the query from different angles, in other words")
        ] = [],  # noqa: B006 - never changed; a default that hosts can read in the schema
        item_type: Annotated[str, Field(description="Only this type, by name, such as Test Case")] = "",
        status: Annotated[str, Field(description="Only this status, such as Approved")] = "",
        top_k: Annotated[int, Field(description="Hits to return, 1 to 50, at most candidate_k")] = config.top_k,
        candidate_k: Annotated[
            int, Field(description="Documents considered per index and query, 1 to 500")
        ] = config.candidate_k,
        modified_after: Annotated[str, Field(description="Inclusive, ISO 8601; without offset it is UTC")] = "",
        modified_before: Annotated[str, Field(description="Inclusive; a bare date means its whole day")] = "",
        pipeline: Annotated[str, Field(description="Another pipeline than the default one")] = "",
        explain: Annotated[bool, Field(description="Tell which index and query found each hit")] = False,
    ) -> SearchAnswer:
        request = SearchRequest(
            tuple(part.strip() for part in project_id.split(",") if part.strip()),
            query,
            tuple(sub_queries),
            item_types=(item_type,) if item_type else (),
            statuses=(status,) if status else (),
            modified_after=modified_after,
            modified_before=modified_before,
            top_k=top_k,
            candidate_k=candidate_k,
            pipeline=pipeline,
            source=source,
        )
        projects, result = app.search(request)
        return search_answer(projects, result, explain=explain)

    title = f"Search {source} by meaning and words"
    return SourceTool(
        f"search_{source}_semantics", title, SEARCH.format(source=source), search, _told_search, "search", lean=True
    )


def _told_search(answer: SearchAnswer) -> str:
    """Tell the hits in two lines each: many hosts show a language model only this text."""
    lines = [f"{answer.returned} of {answer.total_in_pool} candidates for: {answer.query}"]
    for hit in answer.results:
        facts = (hit.document_key or hit.document_id, hit.item_type_name, hit.status, hit.name)
        lines.append(" | ".join(fact for fact in facts if fact))
        lines.append(f"    {shorten(' '.join(hit.text.split()), TOLD_CHARACTERS)}")
    return "\n".join([*lines, *(f"warning: {warning}" for warning in answer.warnings)])


def _validate(app: App) -> SourceTool:
    def validate_setup(
        live: Annotated[bool, Field(description="Also log in to the source and ask for its projects")] = False,
    ) -> SetupAnswer:
        found = check(app, live=live)
        lines = [Check(level=f.level, subject=f.subject, message=f.message) for f in found]
        return SetupAnswer(ready=all(f.level != "problem" for f in found), findings=lines)

    return SourceTool(
        "validate_setup",
        "Check the installation",
        "Say what is configured, where it came from, and what is in the way; with live=true also whether the source"
        " accepts the credentials. Use it when another tool fails.",
        validate_setup,
        _told_setup,
        "setup",
    )


def _told_setup(answer: SetupAnswer) -> str:
    problems = [f"{line.subject}: {line.message}" for line in answer.findings if line.level == "problem"]
    return "\n".join(problems) or "no problem found"


def _source(app: App, name: str) -> Source:
    """Open the database at a tool's first call: what is wrong with it must not hide the tools."""
    return app.assembly.source(name)


def all_tools(app: App) -> list[SourceTool]:
    """List every tool: search and sync of each source, the source's own, and the shared ones.

    They are listed whether or not a source is set up; a call then says what is missing.
    """
    tools: list[SourceTool] = []
    for name, config in app.config.sources.items():
        tools += tools_for(app, name)
        own = app.host.find("source", config.use).tools
        tools += own(name, partial(_source, app, name)) if own else []
    return [*tools, *shared_tools(app)]
