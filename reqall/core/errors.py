"""Every error that reqall raises on purpose.

    ReqallError
    ├── ConfigError          a YAML file or an environment variable is wrong
    ├── PluginError          a plugin could not be loaded or built
    ├── InputError           the caller asked for something that cannot be
    │   └── NotFoundError    a project, document, job or pipeline that is not there
    ├── SourceError          the source system refused or failed
    │   ├── SourceAuthError  credentials, licence or permission
    │   └── SourceUnavailableError  network, time-out, overload
    ├── EmbedderError        a model or an embedding endpoint failed
    ├── RerankerError        a reranking model or endpoint failed, or is not to be trusted
    ├── ModelError           the weights of a model are not there, or not what they should be
    ├── CatalogError         the database file cannot be used
    └── JobError             a sync job could not run or lost its lease

A message says what happened and where; `remedy` says what to do. Neither ever holds a secret
or the text of a document.
"""


class ReqallError(Exception):
    """Root of the hierarchy: `message` for what happened, `remedy` for what to do about it."""

    def __init__(self, message: str, remedy: str = "") -> None:
        """Join both into the text that people read; either stays available by itself."""
        super().__init__(f"{message}\n{remedy}" if remedy else message)
        self.message = message
        self.remedy = remedy


class ConfigError(ReqallError):
    """A configuration file or an environment variable is wrong."""


class PluginError(ReqallError):
    """A plugin could not be loaded, or a component could not be built."""


class InputError(ReqallError):
    """The caller asked for something that cannot be; the caller can mend it."""


class NotFoundError(InputError):
    """A project, document, job or pipeline that is not there."""


class SourceError(ReqallError):
    """The source system refused or failed."""


class SourceAuthError(SourceError):
    """The source refused the credentials, the licence or the permission."""


class SourceUnavailableError(SourceError):
    """The source could not be reached, timed out or is overloaded."""


class EmbedderError(ReqallError):
    """An embedding model or endpoint failed."""


class RerankerError(ReqallError):
    """A reranking model or endpoint failed, or its scores are not to be trusted."""


class ModelError(ReqallError):
    """The weights of a model are not there (yet), could not be fetched, or are not what they should be."""


class CatalogError(ReqallError):
    """The catalog's database file cannot be opened, read or written."""


class JobError(ReqallError):
    """A sync job could not run, or lost its lease to another process."""
