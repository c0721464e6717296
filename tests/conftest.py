"""What holds for every test: a home of its own, and how often Hypothesis tries."""

import importlib.util
import os
import signal
import sys
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

# pytest's importlib mode does not change sys.path; support.py is the one module that all tests may import.
sys.path.append(str(Path(__file__).parent))
from spillover.testing import strict_selectors
from support import AGENTS, fallback

#: Every run tries the same examples, so that a failure can be repeated. `EXPLORE=1 make test` tries new ones each time, as
#: `make soak` does.
EXPLORE = bool(os.environ.get("EXPLORE"))
#: `QUICK=1` tries a tenth of the examples, while you work; `make test` tries all.
QUICK = bool(os.environ.get("QUICK"))

settings.register_profile("tests", deadline=None, derandomize=not EXPLORE, database=None)  # time is measured in bench/
#: The laws: 400 examples each, a thousand where new ones are tried. Looking for the smallest counterexample is worth the time, explaining it is not.
settings.register_profile(
    "laws",
    parent=settings.get_profile("tests"),
    max_examples=1_000 if EXPLORE else 40 if QUICK else 400,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[
        HealthCheck.too_slow,  # files and processes are real here
        HealthCheck.data_too_large,  # outputs that overflow are the point
        HealthCheck.function_scoped_fixture,  # one folder serves all examples of a test: outputs have names of their own
    ],
)
settings.load_profile("tests")

# What `nohup`, or a shell that starts us in the background, ignores would be ignored by every command that a test starts.
for _ignored in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(_ignored) is signal.SIG_IGN:
        signal.signal(_ignored, signal.default_int_handler if _ignored is signal.SIGINT else signal.SIG_DFL)


@pytest.fixture(autouse=True)
def _a_selector_that_fails_is_heard():
    with strict_selectors():
        yield


@pytest.fixture
def selectors_may_fail(monkeypatch, _a_selector_that_fails_is_heard):
    """For tests of what happens then."""
    monkeypatch.setattr(fallback, "SURVIVED", (Exception,))


@pytest.fixture(scope="session")
def grows_as_fast_as_its_text():
    """Check that the CPU time of `work(size)` grows about as fast as `size`, from the first size to the second.

    `margin` times faster is allowed, and times below `floor` seconds are noise. A busy machine is not a finding, so it is
    measured up to four times; work that grows faster is a finding every time.
    """

    def seconds(call):
        best = float("inf")
        for _ in range(3):
            before = time.process_time()
            call()
            best = min(best, time.process_time() - before)
        return best

    def check(work, small, large, *, margin, floor):
        for _ in range(4):
            took = seconds(work(small)), seconds(work(large))
            if took[1] < margin * large / small * max(took[0], floor):
                return
        raise AssertionError(f"{took[0]:.4f} s of {small:,}, and {took[1]:.4f} s of {large:,}")

    return check


@pytest.fixture(scope="session")
def _cache(tmp_path_factory):
    """One cache of compiled patterns for all tests: it cannot change what they see (tests/patterns/test_cache.py)."""
    return str(tmp_path_factory.mktemp("cache"))


@pytest.fixture(autouse=True)
def _a_home_of_its_own(tmp_path_factory, monkeypatch, _cache):
    """No test sees, or leaves anything in, the home and the settings of whoever runs it."""
    home = tmp_path_factory.mktemp("home")
    for host in AGENTS:  # or an agent that runs the tests would bound them
        monkeypatch.delenv(host.variable, raising=False)
    for name in [name for name in os.environ if name.startswith(("SPILLOVER_", "XDG_", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    for name, folder in {
        "CONFIG": ".config",
        "STATE": ".local/state",
        "DATA": ".local/share",
    }.items():
        monkeypatch.setenv(f"XDG_{name}_HOME", str(home / folder))
    monkeypatch.setenv("XDG_CACHE_HOME", _cache)


def _load_script(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent.parent / "scripts" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory):
    """A real S3 server on loopback: started by the first test that wants one, ended with the session.

    It is SeaweedFS, or Ceph where TEST_S3=ceph (`make ceph`).
    """
    script = _load_script("s3/ceph" if os.environ.get("TEST_S3") == "ceph" else "s3/server")
    with script.Server(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture
def s3(s3_server, monkeypatch):
    """The address of an empty place on it; the variables are set by which clients find it."""
    for name, value in s3_server.environ().items():
        monkeypatch.setenv(name, value)
    return f"s3://{s3_server.bucket}/{os.urandom(8).hex()}"


@pytest.fixture
def proxy(s3, s3_server, monkeypatch):
    """A proxy before the real server, that counts and breaks what passes; everything passes through it."""
    with _load_script("s3/proxy").Proxy(s3_server.port) as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL", made.endpoint)
        yield made
