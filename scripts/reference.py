"""Write docs/reference from the code, or check that it is what the code says.

    python scripts/reference.py [--check]

A key of pipelines.yaml or an environment variable that reference_words.py does not explain is an
error, so that nothing new stays undocumented.
"""

import argparse
import ast
import inspect
import sys
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, get_type_hints

from pydantic import BaseModel
from reference_tables import model_rows, shown, table
from reference_tools import jama_endpoints_page, tools_list, tools_page
from reference_words import ALIASES, KEYS, MEANINGS
from typer import Context

import reqall
from reqall.app import BUILT_INS
from reqall.cli import cli
from reqall.core import errors, hookspecs
from reqall.core.config import (
    ArmConfig,
    ConfigFile,
    ExpandConfig,
    IndexConfig,
    PipelineConfig,
    StageConfig,
    VariantWeightsConfig,
)
from reqall.core.host import HOOKS, PluginHost
from reqall.core.registration import ComponentConfig
from reqall.setup import SECRETS, VARIABLES

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "reference"
MODELS: Sequence[type[BaseModel]] = (
    ConfigFile,
    ComponentConfig,
    IndexConfig,
    PipelineConfig,
    StageConfig,
    ExpandConfig,
    VariantWeightsConfig,
    ArmConfig,
)


def cli_page() -> Iterator[str]:
    """Yield every command with its arguments and options."""
    yield "# Command line\n"
    yield f"`reqall [options] COMMAND ...`: {textwrap.dedent(str(cli.info.help))}\n"
    yield "Exit codes: 0 done, 1 failed with a message that says what to do, 2 wrong usage.\n"
    assert cli.registered_callback is not None
    yield "## Options before the command\n"
    yield from _parameters(cli.registered_callback.callback)
    for name, callback in commands():
        yield f"## reqall {name}\n"
        yield f"{inspect.getdoc(callback)}\n"
        yield from _parameters(callback)


def commands() -> Iterator[tuple[str, Any]]:
    """List (name, function) of the commands; those of a group follow it, as `group command`."""
    for command in cli.registered_commands:
        assert command.callback is not None
        yield command.name or command.callback.__name__, command.callback
    for group in cli.registered_groups:
        inner = group.typer_instance
        assert inner is not None
        assert inner.registered_callback is not None
        yield str(group.name), inner.registered_callback.callback
        for command in inner.registered_commands:
            assert command.callback is not None
            yield f"{group.name} {command.name or command.callback.__name__}", command.callback


def parameters(function: Any) -> Iterator[tuple[list[str], bool, Any, str]]:
    """List (names, is an option, default, help) of a command's parameters, as typer derives them."""
    hints = get_type_hints(function, include_extras=True)
    for name, parameter in inspect.signature(function).parameters.items():
        if hints[name] is Context:
            continue
        info = hints[name].__metadata__[0]
        is_option = type(info).__name__ == "OptionInfo"
        # Inside Annotated, typer finds the first of the given names in `default`.
        names = [text for text in (info.default, *(info.param_decls or ())) if isinstance(text, str)]
        names = names or [f"--{name.replace('_', '-')}" if is_option else name.upper()]
        yield names, is_option, parameter.default, info.help or ""


def _parameters(function: Any) -> Iterator[str]:
    rows = [
        (", ".join(f"`{name}`" for name in names), shown(default), told)
        for names, _, default, told in parameters(function)
    ]
    yield from table(("parameter", "default", "meaning"), rows)


def components_page() -> Iterator[str]:
    """Yield every built-in component with its options."""
    host = PluginHost(BUILT_INS, installed=False)
    yield "# Components\n"
    yield "What `use:` can name, with the options under `with:`. `reqall plugins` also lists what other packages add."
    yield "An option whose default is `${VAR}` takes it from the environment.\n"
    for kind in HOOKS.values():
        yield f"## {kind.capitalize()}s\n"
        for offer in host.offers(kind):
            yield f"### {kind} `{offer.registration.name}`\n"
            yield f"{offer.registration.summary}\n"
            yield from table(("option", "type", "default", "meaning"), model_rows(offer.registration.options))


def configuration_page() -> Iterator[str]:
    """Yield the keys of pipelines.yaml and the environment variables."""
    _complete("keys of pipelines.yaml", KEYS, [f"{m.__name__}.{key}" for m in MODELS for key in _own_keys(m)])
    _complete("environment variables", MEANINGS, VARIABLES)
    yield "# Configuration\n"
    yield "Which file: `--config`, else `REQALL_CONFIG`, else `pipelines.yaml` in the user's configuration folder,"
    yield "else the packaged one. The working directory is never searched. `reqall schema` prints a JSON Schema for"
    yield "editors. The user's configuration folder is `~/.config/reqall` on Linux, `~/Library/Application"
    yield "Support/reqall` on macOS and `%LOCALAPPDATA%\\reqall` on Windows.\n"
    for model in MODELS:
        yield f"## {model.__name__}\n"
        bases = " and ".join(base.__name__ for base in model.__mro__[1:] if base in MODELS)
        also = f" It also has the keys of {bases}." if bases else ""
        yield f"{inspect.getdoc(model)}{also}\n"
        own = [row for row in model_rows(model) if row[0].strip("`") in _own_keys(model)]
        rows = [(*row[:3], KEYS[f"{model.__name__}.{row[0].strip('`')}"]) for row in own]
        yield from table(("key", "type", "default", "meaning"), rows)
    yield "## Environment variables\n"
    yield "The process environment goes before `.env` in the user's configuration folder; an empty value counts as not"
    yield "set. `reqall check` shows every value with its origin, secrets masked.\n"
    rows = [(f"`{name}`", "yes" if name in SECRETS else "", MEANINGS[name]) for name in VARIABLES]
    yield from table(("variable", "secret", "meaning"), rows)


def errors_page() -> Iterator[str]:
    """Yield the hierarchy of errors."""
    yield "# Errors\n"
    yield "All are importable from `reqall`. `message` says what happened and where, `remedy` what to do. The command"
    yield "line prints both and exits with 1; an MCP tool returns both as an error result. Any other exception is a"
    yield "defect: a client sees no more of it than that it happened, the log has the rest.\n"
    for found in vars(errors).values():
        if inspect.isclass(found) and issubclass(found, errors.ReqallError):
            depth = len(found.__mro__) - len(errors.ReqallError.__mro__)
            yield f"{'  ' * depth}- `{found.__name__}`: {_first_line(found)}"


def plugin_api_page() -> Iterator[str]:
    """Yield the hooks and the façade."""
    yield "# Plugin API\n"
    yield "A plugin imports from `reqall` and nothing below it. See [how to write one](../how-to/write-a-plugin.md).\n"
    _complete("aliases of the façade", ALIASES, [name for name in reqall.__all__ if not _is_defined(name)])
    yield "## Hooks\n"
    yield "Each takes no argument and returns registrations. The entry-point group is `reqall`.\n"
    for name in HOOKS:
        hook = getattr(hookspecs, name)
        yield f"### {name}\n"
        yield f"`{_signature(_parsed(hook))}`\n"
        yield f"{_first_line(hook)}\n"
    yield "## Names of `reqall`\n"
    for name in reqall.__all__:
        found = getattr(reqall, name)
        yield f"### {name}\n"
        yield f"{inspect.getdoc(found) if _is_defined(name) else ALIASES[name]}\n"
        if inspect.isfunction(found):
            yield f"`{_signature(_parsed(found))}`\n"
        elif lines := [f"- {line}" for line in _members(found)] if inspect.isclass(found) else []:
            yield from [*lines, ""]


def _is_defined(name: str) -> bool:
    """Tell a class or function, which has a docstring, from an alias or a value, which has none."""
    return inspect.isclass(found := getattr(reqall, name)) or inspect.isfunction(found)


def _members(found: type) -> Iterator[str]:
    """List fields and public methods, from the source: the same text in every version of Python."""
    tree = _parsed(found)
    assert isinstance(tree, ast.ClassDef)
    for node in tree.body:
        if isinstance(node, ast.AnnAssign):
            yield f"`{ast.unparse(node)}`"
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            is_property = any("property" in ast.unparse(decorator) for decorator in node.decorator_list)
            told = (ast.get_docstring(node) or "").split("\n", 1)[0]
            plain = f"{node.name} -> {ast.unparse(node.returns)}" if is_property and node.returns else _signature(node)
            yield f"`{plain}`: {told}"


def _parsed(found: Any) -> ast.AST:
    return ast.parse(textwrap.dedent(inspect.getsource(found))).body[0]


def _signature(node: ast.AST) -> str:
    assert isinstance(node, ast.FunctionDef)
    return f"{node.name}({ast.unparse(node.args)})" + (f" -> {ast.unparse(node.returns)}" if node.returns else "")


def _first_line(found: Any) -> str:
    return (inspect.getdoc(found) or "").split("\n", 1)[0]


def _own_keys(model: type[BaseModel]) -> list[str]:
    fields = model.model_fields
    return [fields[name].alias or name for name in inspect.get_annotations(model) if name in fields]


def _complete(what: str, told: Mapping[str, str], known: Sequence[str]) -> None:
    if unexplained := sorted(set(known) - set(told)):
        sys.exit(f"explain in scripts/reference_words.py these {what}: {', '.join(unexplained)}")


PAGES = {
    "cli.md": cli_page,
    "components.md": components_page,
    "configuration.md": configuration_page,
    "tools.md": tools_page,
    "tools.json": tools_list,
    "jama-endpoints.md": jama_endpoints_page,
    "errors.md": errors_page,
    "plugin-api.md": plugin_api_page,
}


def main() -> int:
    """Write the pages; with --check, return 1 when one of them is not what it should be."""
    parser = argparse.ArgumentParser(description="Write docs/reference from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; fail when a page is out of date")
    check = parser.parse_args().check
    FOLDER.mkdir(parents=True, exist_ok=True)
    stale = []
    for name, page in PAGES.items():
        text = "\n".join(page()).rstrip("\n") + "\n"
        file = FOLDER / name
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            stale.append(name)
            if not check:
                file.write_text(text, encoding="utf-8", newline="\n")
    told = "is out of date: run python scripts/reference.py" if check else "written"
    for name in stale:
        print(f"docs/reference/{name} {told}")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
