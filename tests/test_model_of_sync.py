"""A short run of the model-based test of syncs; `make soak` runs it for longer."""

from hypothesis import HealthCheck, Phase, settings

from tests.soak.model import Model

TestModel = Model.TestCase
# A failure is told as it was found: to shrink it takes minutes, and `make soak` does.
TestModel.settings = settings(
    max_examples=8,
    stateful_step_count=10,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
