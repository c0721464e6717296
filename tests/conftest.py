"""What holds for every test: a home of its own, and how often Hypothesis tries."""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings

#: In CI every run tries the same examples, so that a red one can be repeated; at home every run looks somewhere else.
IN_CI = os.environ.get("CI") == "true"

settings.register_profile("tests", deadline=None, derandomize=IN_CI, database=None)  # time is measured in bench/
#: The laws: a thousand examples each. Looking for the smallest counterexample is worth the time, explaining it is not.
settings.register_profile(
    "laws",
    parent=settings.get_profile("tests"),
    max_examples=1_000,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[
        HealthCheck.too_slow,  # files and processes are real here
        HealthCheck.data_too_large,  # outputs that overflow are the point
        HealthCheck.function_scoped_fixture,  # one folder serves all examples of a test: outputs have names of their own
    ],
)
settings.load_profile("tests")


@pytest.fixture(autouse=True)
def _a_selector_of_ours_that_fails_is_heard(monkeypatch):
    monkeypatch.setattr("spillover.fit.SURVIVED", ())


@pytest.fixture(autouse=True)
def _a_home_of_its_own(tmp_path_factory, monkeypatch):
    """No test sees, or leaves anything in, the home and the settings of whoever runs it."""
    home = tmp_path_factory.mktemp("home")
    for name in [name for name in os.environ if name.startswith(("SPILLOVER_", "XDG_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    for name, folder in {
        "CONFIG": ".config",
        "STATE": ".local/state",
        "DATA": ".local/share",
        "CACHE": ".cache",
    }.items():
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / folder))
