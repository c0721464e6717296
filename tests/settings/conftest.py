"""A home, and a cloned repository in it whose configuration nobody has trusted."""

import os
from pathlib import Path

import pytest

from spillover.settings.load import load
from spillover.settings.trust import trust


class Clone:
    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = self.home / "src" / "clone"
        self.file = self.project / "spillover.toml"
        self.user = self.home / ".config" / "spillover" / "spillover.toml"
        self.environ = {"HOME": str(self.home)}
        self.state = self.home / ".local" / "state" / "spillover-trust"
        for folder in (self.project / ".git", self.user.parent):
            folder.mkdir(parents=True)

    def load(self, toml=None, *, user=None, environ=None, arguments=None, cwd=None, uid=None):
        if toml is not None:
            self.file.write_text(toml)
        if user is not None:
            self.user.write_text(user)
        return load(
            cwd=str(cwd or self.project), environ={**self.environ, **(environ or {})}, arguments=arguments, uid=uid
        )

    def trust(self, file=None):
        file = file or self.file
        trust(str(file), file.read_bytes(), self.environ, os.geteuid())


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path)
