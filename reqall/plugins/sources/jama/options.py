"""The options of the Jama source."""

from pydantic import Field, SecretStr

from reqall import PluginOptions


class JamaOptions(PluginOptions):
    """Where Jama is and as whom to read it."""

    url: str = Field(
        default="${JAMA_URL}",
        description="Address of Jama, with its context path if it has one: https://example.jamacloud.com",
    )
    client_id: str = Field(
        default="${JAMA_CLIENT_ID}",
        description="Client id of the API credentials, from the user's profile in Jama",
    )
    client_secret: SecretStr = Field(
        default=SecretStr("${JAMA_CLIENT_SECRET}"),
        description="Client secret that belongs to the client id",
    )
    timeout: float = Field(default=30.0, gt=0, description="Seconds to wait for the next bytes of an answer")
    deadline: float = Field(default=120.0, gt=0, description="Seconds that one answer may take in all")
    page_size: int = Field(default=50, ge=1, le=50, description="Rows per page; Jama allows up to 50")
    parallel_pages: int = Field(default=8, ge=1, le=32, description="Pages of a list that are fetched at the same time")
    requests_per_second: int = Field(
        default=8,
        ge=1,
        le=1000,
        description="Requests of this process in any one second; Jama allows 10, to all its users together",
    )
    patience: float = Field(
        default=1800.0,
        ge=0,
        description="Seconds that a sync waits in all for one answer of a Jama that is down or overloaded; tools: 40",
    )
    ca_bundle: str = Field(
        default="${JAMA_CA_BUNDLE:-}",
        description="File of certificates to trust instead of the system's store; empty: the system's store",
    )
    client_cert: str = Field(
        default="${JAMA_CLIENT_CERT:-}",
        description="File of the certificate that this client shows, with its key unless that is apart; empty: none",
    )
    client_key: str = Field(
        default="${JAMA_CLIENT_KEY:-}",
        description="File of the key of client_cert, when it is apart and without a passphrase",
    )
