"""A sync that is killed at any instant, over and over, leaves a sound file and still ends equal to the source."""

import sys

import pytest

from tests.soak.crash import crash_test

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL is of POSIX")


@pytest.mark.timeout(300)
def test_killed_syncs_lose_nothing_and_repeat_no_more_than_a_batch_each(tmp_path):
    with crash_test(tmp_path, seed=5) as test:
        test.run(kills=5)
        assert all(test.kills.values())
        assert test.overtaken
