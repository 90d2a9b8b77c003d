"""Settings of hypothesis that fit laws which plugins inherit."""

from hypothesis import HealthCheck, settings


def examples(count: int) -> settings:
    """Draw `count` examples of one law.

    Examples share a fixture, as the laws only read or replace what they wrote, and one law runs in
    the classes of many plugins. How long an example takes says nothing of a plugin. One way in which a
    law is broken is enough to begin with.
    """
    shared = [HealthCheck.function_scoped_fixture, HealthCheck.differing_executors, HealthCheck.too_slow]
    return settings(max_examples=count, deadline=None, suppress_health_check=shared, report_multiple_bugs=False)
