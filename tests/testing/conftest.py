"""Breaks one law of a contract at a time."""

import pytest
from hypothesis import Phase, settings

SETTINGS = "_hypothesis_internal_use_settings"


@pytest.fixture
def notices(monkeypatch):
    """Run one law with what its fixtures would give; it must fail, and say so in these words."""

    def check(contract, law, words, **given):
        if hasattr(function := getattr(contract, law), SETTINGS):
            # To find the smallest example takes longer than all the rest, and nobody reads it here.
            quick = settings(getattr(function, SETTINGS), phases=[Phase.generate], database=None)
            monkeypatch.setattr(function, SETTINGS, quick)
        with pytest.raises(BaseException, match=words) as caught:  # pytest.fail raises no Exception
            function(contract(), **given)
        assert isinstance(caught.value, (Exception, pytest.fail.Exception)), caught.value

    return check


@pytest.fixture
def laws_of():
    """List the laws of a contract, those that it inherits too."""
    return lambda contract: {name for name in dir(contract) if name.startswith("test_")}
