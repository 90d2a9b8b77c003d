"""What is wrong with a Jama source's settings."""

from reqall import ConfigError, ReqallError
from reqall.plugins.sources.jama.http.address import base_url, is_set
from reqall.plugins.sources.jama.http.client import JamaClient
from reqall.plugins.sources.jama.http.connection import Certificates
from reqall.plugins.sources.jama.options import JamaOptions


def problems(options: JamaOptions, certificates: Certificates, client: JamaClient, *, live: bool) -> list[str]:
    """Return one line per problem with the settings; `live` also asks Jama for its projects."""
    found = []
    for check in (lambda: base_url(options.url), certificates.check):
        try:
            check()
        except ConfigError as error:
            found.append(_line(error))
    secret = options.client_secret.get_secret_value()
    for variable, value in (("JAMA_CLIENT_ID", options.client_id), ("JAMA_CLIENT_SECRET", secret)):
        if not is_set(value):
            found.append(f"{variable} is not set. Create API credentials in your Jama profile.")
    if found or not live:
        return found
    try:
        visible = client.total("/projects", {})
    except ReqallError as error:
        return [_line(error)]
    return [] if visible else ["Jama shows no project to this user. Ask the Jama administrator for access."]


def _line(error: ReqallError) -> str:
    return f"{error.message}. {error.remedy}".removesuffix(" ")
