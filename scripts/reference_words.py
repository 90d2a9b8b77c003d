"""What the reference says where the code has no text of its own."""

KEYS = {
    "ConfigFile.version": "version of the format of this file",
    "ConfigFile.sources": "where documents come from, by a name of your choice; it becomes part of the tools' names",
    "ConfigFile.embedders": "how a text becomes a vector, by name",
    "ConfigFile.indexes": "what a sync keeps, by name; pipelines share them",
    "ConfigFile.pipelines": "how a search runs, by name; `default` answers when none is named",
    "ComponentConfig.use": "registered name of the component; see [components](components.md)",
    "ComponentConfig.with": "its options; a text may hold `${VAR}` or `${VAR:-default}`",
    "IndexConfig.chunk": "the chunker: how a document is cut for this index",
    "PipelineConfig.expand": "the expander; without one only the user's own text is searched with",
    "PipelineConfig.recall": "the arms: which indexes are searched",
    "PipelineConfig.fuse": "the fuser: makes one ranking of those of all arms and texts",
    "PipelineConfig.rerank": "the reranker; `none` keeps the fused order",
    "PipelineConfig.pin": "put documents whose key stands in the query first",
    "PipelineConfig.timeout": "seconds that a component of a search may give no sign of life before it is left out",
    "PipelineConfig.top_k": "hits returned, at most candidate_k",
    "PipelineConfig.candidate_k": "documents per arm and text, and in the fused pool",
    "StageConfig.timeout": "seconds that this component may be silent; not set: the pipeline's `timeout`",
    "ArmConfig.index": "name of an index of this file",
    "ArmConfig.weight": "its weight in the fusion",
    "ArmConfig.required": "fail the search when this index fails; otherwise the result warns and goes on without it",
    "ArmConfig.timeout": "seconds that this index may be silent; not set: the pipeline's `timeout`",
}

MEANINGS = {
    "JAMA_URL": "address of Jama, with its context path if it has one",
    "JAMA_CLIENT_ID": "client id of the API credentials, from the user's profile in Jama",
    "JAMA_CLIENT_SECRET": "client secret that belongs to it",
    "JAMA_CA_BUNDLE": "PEM file of certificates to trust when reading Jama",
    "JAMA_CLIENT_CERT": "PEM file of the certificate that reqall shows to Jama",
    "JAMA_CLIENT_KEY": "PEM file of the key of that certificate, when it is apart",
    "EMBEDDING_BASE_URL": "address of the embeddings API as far as /v1, or the Azure endpoint; not set: OpenAI",
    "EMBEDDING_API_KEY": "key of the embeddings API; needed only by the embedder `openai`",
    "EMBEDDING_MODEL": "model, or deployment on Azure; not set: text-embedding-3-small",
    "EMBEDDING_DIMENSIONS": "length of the vectors; not set: the native length of OpenAI's models",
    "EMBEDDING_API_VERSION": "Azure OpenAI's api-version; set, addresses are built by deployment",
    "EMBEDDING_KEY_HEADER": "header that carries the key instead of `Authorization: Bearer`, such as api-key",
    "JAMA_MCP_DB_PATH": "the catalog's database file; not set: catalog.db in the user's data folder",
    "SYNC_INTERVAL_HOURS": "how often a running server syncs every initialised project by itself; not set: 2, 0: never",
    "REQALL_CONFIG": "the pipelines.yaml to use",
    "REQALL_PIPELINE": "the pipeline that answers when none is named; not set: default",
    "REQALL_PLUGINS": "plugins or distributions that may be loaded, divided by commas, or with a `-` before them those"
    " that may not; empty: none, not set: all that are installed",
    "REQALL_STRICT_PLUGINS": "1 makes a plugin that cannot be loaded, or whose name is another's, a fatal error",
    "REQALL_LOG_LEVEL": "DEBUG, INFO, WARNING or ERROR; not set: WARNING. Logs go to stderr",
    "REQALL_HTTP_TOKEN": "what clients of `reqall serve --http` send as bearer token; needed beyond loopback",
    "REQALL_HOME": "one folder for pipelines.yaml, .env and databases; process environment only, not .env",
}

ALIASES = {
    "JsonValue": "a value of JSON",
    "Storage": '`"catalog"`, `"external"` or `"memory"`',
    "Vectors": "float32 array of shape (number of texts, dimensions), rows of length 1",
    "__version__": "the version",
    "hookimpl": "marks a function as the implementation of a hook",
}
