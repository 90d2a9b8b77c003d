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
    timeout: float = Field(default=30.0, gt=0, description="Seconds to wait for an answer of Jama")
    page_size: int = Field(default=50, ge=1, le=50, description="Rows per page; Jama allows up to 50")
