import pytest
from hypothesis import given
from hypothesis import strategies as st

from reqall import ConfigError
from reqall.plugins.sources.jama.http.address import base_url, is_set


@pytest.mark.parametrize(
    ("pasted", "base"),
    [
        ("https://x.jamacloud.com", "https://x.jamacloud.com"),
        (" https://x.jamacloud.com/ ", "https://x.jamacloud.com"),
        ("https://host/contour/", "https://host/contour"),
        ("https://host//contour//", "https://host/contour"),
        ("https://host:8443/a/b", "https://host:8443/a/b"),
        ("https://host/contour/rest/v1", "https://host/contour"),
        ("https://host/rest/latest/projects", "https://host"),
        ("https://host/perspective.req#/items/51?projectId=2", "https://host"),
        ("https://host/contour/login.req?x=1", "https://host/contour"),
        ("https://host/restaurant", "https://host/restaurant"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
    ],
)
def test_what_people_paste_becomes_one_base(pasted, base):
    assert base_url(pasted) == base


@pytest.mark.parametrize(
    "wrong", ["x.jamacloud.com", "localhost:8080", "ftp://host", "https://", "https://[::1", "//host"]
)
def test_an_address_without_scheme_or_host_is_a_configuration_error(wrong):
    with pytest.raises(ConfigError, match="JAMA_URL") as error:
        base_url(wrong)
    assert "https://" in error.value.remedy


@pytest.mark.parametrize("missing", ["", "  ", "${JAMA_URL}"])
def test_a_missing_address_is_told_as_such(missing):
    assert not is_set(missing)
    with pytest.raises(ConfigError, match="JAMA_URL is not set"):
        base_url(missing)


def test_a_password_in_the_address_is_refused_and_not_repeated():
    with pytest.raises(ConfigError, match="password") as error:
        base_url("https://ada:sesame@host")
    assert "sesame" not in str(error.value)


@given(st.lists(st.sampled_from(["a", "b", "", "contour"])), st.sampled_from(["", "/", "//"]))
def test_normalising_twice_changes_nothing(segments, end):
    base = base_url("https://host/" + "/".join(segments) + end)
    assert base_url(base) == base
    assert "//" not in base.removeprefix("https://")
    assert not base.endswith("/")
