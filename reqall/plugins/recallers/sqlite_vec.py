"""Dense recall: exact nearest neighbours by sqlite-vec (https://github.com/asg017/sqlite-vec), in the catalog's file.

Vectors have length 1, so the Euclidean distance d orders as the cosine does: cosine = 1 - d²/2.
Projects share `BUCKETS` partitions: a partition each would cost a block of slots per project.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import apsw
from pydantic import Field

from reqall import (
    ChunkRanking,
    Database,
    Embedder,
    EmbedderError,
    Filters,
    IndexBatch,
    IndexEntry,
    PluginError,
    PluginOptions,
    Position,
    Reference,
    Registration,
    Services,
    SqlConnection,
    Storage,
)
from reqall.plugins.recallers.facets import microseconds
from reqall.plugins.recallers.tables import has_table, read_position, require_database, write_position
from reqall.plugins.recallers.vec0 import Vec0

Row: TypeAlias = "tuple[int, str, float]"


class SqliteVecOptions(PluginOptions):
    """Options of `sqlite_vec`."""

    embedder: Annotated[str, Reference("embedder")] = Field(description="Name of the embedder that makes the vectors.")
