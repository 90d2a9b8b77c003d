"""A job as it is stored and shown."""

import json
from dataclasses import asdict, dataclass, fields
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["QUEUED", "RUNNING", "DONE", "ERROR", "CANCELLED"]


@dataclass(frozen=True, slots=True)
class Job:
    """Counts are documents (`changed`: written anew), `embedded` texts, `requests` HTTP requests.

    QUEUED: nobody runs it at the moment. `rate` is documents per second, `eta_seconds` what the phase
    (not the job) still takes; 0 is unknown. `allow_removals`: who asked for it lets many documents go at once.
    """

    job_id: str
    project_id: str
    kind: str
    status: Status = "QUEUED"
    phase: str = "queued"
    done: int = 0
    total: int = 0
    embedded: int = 0
    deleted: int = 0
    changed: int = 0
    requests: int = 0
    message: str = ""
    error: str = ""
    started: str | None = None
    finished: str | None = None
    rate: float = 0.0
    eta_seconds: int = 0
    allow_removals: bool = False

    @property
    def ended(self) -> bool:
        """Tell whether nothing more will happen."""
        return self.status in ("DONE", "ERROR", "CANCELLED")

    def stored(self) -> str:
        """Write it as JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, stored: str) -> "Job":
        """Read what `stored` wrote, also in another version with other fields."""
        known = {field.name for field in fields(cls)}
        return cls(**{name: value for name, value in json.loads(stored).items() if name in known})
