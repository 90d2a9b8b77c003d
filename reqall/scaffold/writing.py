"""Fills the templates in and writes them to a folder: all files, or none."""

from collections.abc import Iterator, Mapping
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath
from string import Template
from tempfile import TemporaryDirectory

from reqall.core.errors import InputError
from reqall.core.wording import did_you_mean, one_of
from reqall.scaffold.kinds import NEW
from reqall.scaffold.names import Names, requirement

_SUFFIX = ".template"
_PACKAGE = "PACKAGE"
_EXAMPLE = "example/pipelines.yaml"


def write_plugin(kind: str, name: str, folder: Path) -> Path:
    """Write the package `reqall-NAME` below `folder` and return its path. Raises InputError."""
    if kind not in NEW:
        raise InputError(f"no kind of components is named {kind!r}{did_you_mean(kind, NEW)}", f"kinds: {one_of(NEW)}")
    names = Names.of(name)
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder", "create it, or name another with --folder")
    target = folder / names.distribution
    try:
        _write(target, render(kind, names))
    except OSError as error:
        raise InputError(f"{target} cannot be written: {error.strerror}", "name another place with --folder") from error
    return target


def _write(target: Path, rendered: Mapping[str, str]) -> None:
    if target.exists() or target.is_symlink():
        raise InputError(f"{target} exists already", "choose another name, or another place with --folder")
    with TemporaryDirectory(prefix=".reqall-", dir=target.parent) as staged:
        whole = Path(staged) / target.name
        for path, text in rendered.items():
            (whole / path).parent.mkdir(parents=True, exist_ok=True)
            (whole / path).write_text(text, encoding="utf-8", newline="\n")
        whole.rename(target)


def render(kind: str, names: Names) -> Mapping[str, str]:
    """Return the text of each file of the package by its path in it."""
    about = NEW[kind]
    places = {
        "kind": kind,
        "A": "An" if kind[0] in "aeiou" else "A",
        "name": names.name,
        "Name": names.in_classes,
        "package": names.package,
        "distribution": names.distribution,
        "dependencies": ", ".join(f'"{each}"' for each in (requirement(), *about.libraries)),
        "summary": about.summary,
        "query": about.query,
        "given": "".join(f" --with {names.name}.{option}" for option in about.required),
    }
    templates = dict(_templates(kind))
    places["example"] = Template(templates[_EXAMPLE]).substitute(places)
    return {
        path.replace(_PACKAGE, names.package): Template(text).substitute(places) for path, text in templates.items()
    }


def _templates(kind: str) -> Iterator[tuple[str, str]]:
    """Yield path and text of what every package has, of what a kind adds, and of items to search in."""
    root = files(__package__) / "templates"
    for part in ("every", kind) if kind == "source" else ("every", "searched", kind):
        yield from _walk(root / part, PurePosixPath())


def _walk(folder: Traversable, path: PurePosixPath) -> Iterator[tuple[str, str]]:
    for found in sorted(folder.iterdir(), key=lambda each: each.name):
        inner = path / found.name
        if found.is_dir():
            yield from _walk(found, inner)
        else:
            yield str(inner).removesuffix(_SUFFIX), found.read_text(encoding="utf-8")
