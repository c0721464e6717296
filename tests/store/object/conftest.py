"""A proxy before the real server, that counts and breaks what passes."""

import importlib.util
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parent.parent.parent.parent / "scripts"


@pytest.fixture(scope="session")
def proxies():
    spec = importlib.util.spec_from_file_location("s3_proxy", SCRIPTS / "s3_proxy.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def proxy(s3, s3_server, proxies, monkeypatch):
    """Everything that goes to the server passes through it."""
    with proxies.Proxy(s3_server.port) as made:
        monkeypatch.setenv("AWS_ENDPOINT_URL", made.endpoint)
        yield made
