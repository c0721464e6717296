# pytest -v -rA: everything passes, and the tests, their names and their logs speak of nothing but failure
version() { pytest --version; }
setup() {
cat > test_errors.py <<'END'
import logging

import pytest


@pytest.mark.parametrize("code", range(400, 480))
def test_an_error_page_is_shown_when_a_request_fails(code):
    logging.getLogger("shop").warning("request failed as expected: error %s, fatal=%s", code, False)


def test_the_slowest_page_answers_in_time():
    logging.getLogger("shop").warning("slowest page: /reports, 812 ms")
END
}
run() { pytest -v -rA -p no:cacheprovider; }
