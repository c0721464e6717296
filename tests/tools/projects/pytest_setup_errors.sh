# pytest: 490 tests that cannot be set up, because of one fixture
version() { python -m pytest --version; }
setup() {
cat > conftest.py <<'EOF'
import logging
import os

import pytest

log = logging.getLogger("fixtures")


class Database:
    def __init__(self, url):
        self.url = url

    def connect(self, name):
        log.info("connecting to %s for %s", self.url, name)
        log.info("pool of %s has %d connections", name, 4)
        if "://" not in self.url:
            raise ConnectionError(f"DATABASE_URL is {self.url!r}; expected postgresql://HOST/NAME")
        return self


@pytest.fixture
def database(request):
    return Database(os.environ.get("DATABASE_URL", "localhost")).connect(request.node.name)
EOF
for area in accounts billing catalog mail orders search stock; do
cat > test_$area.py <<EOF
import pytest


@pytest.mark.parametrize("number", range(70))
def test_${area}_of_customer(database, number):
    assert database.count("$area", number) > 0
EOF
done
}
run() { python -m pytest -p no:cacheprovider --tb=short; }
