# ruff check, full output in colours: style everywhere, an undefined name, a file that does not parse
version() { ruff --version; }
setup() {
mkdir -p app
for name in cache client errors export feed; do
cat > app/$name.py <<EOF
import os, sys
from typing import List, Optional


def load_$name(path: str, options: Optional[List[str]] = [], verbose=False):
    try:
        data = open(path).read()
    except:
        print("error in $name")
        raise Exception("cannot load $name")
    if options == None:
        options = list()
    return dict(data=data, options=options)
EOF
done
cat > app/ledger.py <<'EOF'
def total(rows):
    return sum(row.amount for row in rows if row.kind in KNOWN_KINDS)
EOF
printf 'def close(day)\n    return day.balance\n' > app/closing.py
}
run() { FORCE_COLOR=1 ruff check --no-cache --isolated --select F,E,W,B,UP,BLE,C4,SIM,TRY,T20 --output-format full app; }
