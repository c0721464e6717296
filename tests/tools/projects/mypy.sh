# mypy: notes everywhere, three errors
version() { mypy --version; }
setup() {
mkdir -p depot
touch depot/__init__.py
for name in bins carts docks errors floors gates halls items lifts pallets racks ramps routes scales seals shelves skids slots stacks tags tiers totes trays trucks vans zones; do
cat > depot/$name.py <<EOF
from typing import Any, Dict


def find_$name(rows, key):
    found: dict = rows[key]
    errors: int = 0
    return found


def count_$name(rows: Dict[str, Any]) -> int:
    reveal_type(rows)
    return find_$name(rows, "count")


class ${name^}:
    def move(self, where):
        self.where: str = where
        self.moved: bool = True
EOF
done
cat > depot/weights.py <<'EOF'
from dataclasses import dataclass


@dataclass
class Parcel:
    grams: int
    label: str | None


def heaviest(parcels: list[Parcel]) -> Parcel:
    return max(parcels, key=lambda parcel: parcel.label)


def price(parcel: Parcel) -> float:
    return parcel.grams * "0.02"
EOF
}
run() { mypy --show-error-context --show-column-numbers --cache-dir=/dev/null depot; }
