"""A JSON Schema of pipelines.yaml for editors: the keys, and for each `use` what is installed, with its options.

It is of draft 7, which every language server for YAML reads. What concerns the whole file, such as an
index that a pipeline names, only `validate` knows; a number in quotes, which that takes, is marked.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pydantic import SecretBytes, SecretStr
from pydantic.json_schema import GenerateJsonSchema

from reqall.core.config import ConfigFile
from reqall.core.environment import has_variables
from reqall.core.host import PluginHost
from reqall.core.plugin import Offer
from reqall.core.registration import PluginOptions

Schema: TypeAlias = dict[str, Any]

DRAFT = "http://json-schema.org/draft-07/schema#"

_FRAMES = {
    "source": "ComponentConfig",
    "embedder": "ComponentConfig",
    "chunker": "ComponentConfig",
    "recaller": "IndexConfig",
    "expander": "ExpandConfig",
    "fuser": "StageConfig",
    "reranker": "StageConfig",
}
"""The part of the file's structure that names a component of a kind."""

_NAME = r"\$\{[A-Za-z_][A-Za-z0-9_]*"
_VARIABLE = {"type": "string", "pattern": _NAME + r"(:-[^}]*)?\}"}
_SECRET = {
    "type": "string",
    "pattern": f"^{_NAME}" + r"(:-)?\}$",
    "patternErrorMessage": "a secret: write ${VARIABLE} here and set that in the environment",
}
_TEXTS = ({"type": "string"}, {"type": "string", "format": "path"})
_TOLD = ("description", "default")


class _Quiet(GenerateJsonSchema):
    """Leaves a default out that is no value of JSON, without a warning."""

    ignored_warning_kinds = {"skipped-choice", "non-serializable-default"}  # noqa: RUF012 - pydantic's own attribute


def file_schema(host: PluginHost) -> Schema:
    """Describe the file as it may be written with what this host has."""
    schema = ConfigFile.model_json_schema(by_alias=True)
    frames, sections = schema["$defs"], schema["properties"]
    definitions: Schema = {name: frames[name] for name in ("PipelineConfig", "ArmConfig", "VariantWeightsConfig")}
    for kind, frame in _FRAMES.items():
        definitions |= _component(kind, frames[frame], host.offers(kind))
    definitions["recaller"]["properties"]["chunk"] = _of("chunker")
    stages = definitions["PipelineConfig"]["properties"]
    several = {"type": "array", "items": _of("expander")}
    stages |= {"expand": {"anyOf": [_of("expander"), several, {"type": "null"}]}}
    stages |= {"fuse": _of("fuser"), "rerank": _of("reranker")}
    for name, kind in (("sources", "source"), ("embedders", "embedder"), ("indexes", "recaller")):
        pattern = next(iter(sections[name]["patternProperties"]))
        sections[name]["patternProperties"] = {pattern: _of(kind)}
    for name in ("sources", "embedders", "indexes", "pipelines"):
        sections[name]["additionalProperties"] = False
    return {"$schema": DRAFT, **schema, "title": "pipelines.yaml of reqall", "$defs": definitions}


def _of(definition: str) -> Schema:
    return {"$ref": f"#/$defs/{definition}"}


def _component(kind: str, frame: Schema, offers: Sequence[Offer]) -> Schema:
    """Define what may stand where a component of this kind is named, and the models of its options."""
    definitions: Schema = {}
    choices = []
    for number, offer in enumerate(offers):
        # Classes of two plugins may have one name.
        prefix = f"{kind}{number}."
        options, models = _options(offer.registration.options, prefix)
        definitions |= models
        then = {"properties": {"with": options}} | ({"required": ["with"]} if options.get("required") else {})
        given = {"properties": {"use": {"const": offer.registration.name}}, "required": ["use"]}
        choices.append({"if": given, "then": then})
    use = {
        "description": f"Name of an installed {kind}.",
        "type": "string",
        "enum": [offer.registration.name for offer in offers],
        "enumDescriptions": [f"{o.registration.summary} ({o.plugin.distribution} {o.plugin.version})" for o in offers],
    }
    own = {**frame, "title": kind, "properties": {**frame["properties"], "use": use}, "allOf": choices}
    return {kind: own, **definitions}


def _options(model: type[PluginOptions], prefix: str) -> tuple[Schema, Schema]:
    """Describe options, and the models inside them by the names that references use."""
    try:
        schema = model.model_json_schema(schema_generator=_Quiet)
    except Exception:  # noqa: BLE001 - a type of a plugin's own may have no JSON Schema: anything may stand there
        return {"type": "object"}, {}
    models = {prefix + name: _inside(inner, prefix) for name, inner in schema.pop("$defs", {}).items()}
    options = _inside(schema, prefix)
    for name, info in model.model_fields.items():
        place = options.get("properties", {}).get(info.alias or name, {})
        if isinstance(info.default, SecretStr) and has_variables(secret := info.default.get_secret_value()):
            place["default"] = secret
        elif isinstance(info.default, SecretStr | SecretBytes):
            place.pop("default", None)
    return options, models


def _inside(schema: Mapping[str, Any], prefix: str) -> Schema:
    """Let `${VAR}` stand for every value inside."""
    if _is_secret(schema):
        # Not the default: pydantic writes asterisks for it.
        return {key: schema[key] for key in ("description",) if key in schema} | _SECRET
    inside: Schema = {}
    for key, value in schema.items():
        if key in ("properties", "patternProperties"):
            inside[key] = {name: _value(inner, prefix) for name, inner in value.items()}
        elif key in ("items", "additionalProperties") and isinstance(value, dict):
            inside[key] = _value(value, prefix)
        elif key in ("anyOf", "oneOf", "allOf"):
            inside[key] = [_inside(inner, prefix) for inner in value]
        elif key == "title":
            continue  # pydantic's: the key with other capitals, which an editor would show twice
        elif key == "$ref":
            inside[key] = value.replace("#/$defs/", f"#/$defs/{prefix}")
        else:
            inside[key] = value
    return inside


def _value(schema: Mapping[str, Any], prefix: str) -> Schema:
    """Let `${VAR}` stand for a value; nothing else can be a secret, and any text takes it anyway."""
    inside = _inside(schema, prefix)
    told = {key: inside.pop(key) for key in _TOLD if key in inside}
    takes_any = inside in _TEXTS or not inside
    if takes_any or any(_is_secret(each) for each in (schema, *schema.get("anyOf", ()))):
        return {**told, **inside}
    return {**told, "anyOf": [inside, _VARIABLE]}


def _is_secret(schema: Mapping[str, Any]) -> bool:
    return schema.get("format") == "password" and bool(schema.get("writeOnly"))
