# unittest -v: a failure and an error among hundreds of tests
version() { echo "unittest of $(python --version)"; }
setup() {
cat > test_calendar_rules.py <<'EOF'
"""Rules of a booking calendar. Tests are made from a table, as projects with load_tests do."""
import calendar
import datetime
import json
import unittest


def working_days(year, month, holidays=()):
    days = calendar.monthrange(year, month)[1]
    dates = [datetime.date(year, month, day) for day in range(1, days + 1)]
    return [date for date in dates if date.weekday() < 5 and date not in holidays]


def load_rules(text):
    return {rule["name"]: rule["opens"] for rule in json.loads(text)["rules"]}


class WorkingDays(unittest.TestCase):
    """One test a month."""


def add(year, month):
    def test(self):
        found = len(working_days(year, month))
        wanted = 23 if (year, month) == (2024, 2) else found
        self.assertEqual(found, wanted, f"working days of {year}-{month:02}")

    test.__name__ = f"test_{year}_{month:02}_has_its_working_days"
    setattr(WorkingDays, test.__name__, test)


for year in range(2012, 2032):
    for month in range(1, 13):
        add(year, month)


class Rules(unittest.TestCase):
    def test_broken_json_is_an_error(self):
        with self.assertRaises(json.JSONDecodeError):
            load_rules("{")

    def test_opening_hours_are_read(self):
        text = '{"rules": [{"name": "desk", "opens": "09:00"}, {"name": "gym", "open": "06:00"}]}'
        self.assertEqual(load_rules(text)["gym"], "06:00")

    @unittest.expectedFailure
    def test_leap_seconds(self):
        self.fail("not yet")
EOF
}
run() { python -m unittest -v; }
