# a Python list of dicts, printed as it is: the objects of a database, a hundred and twenty of them, on one line
version() { python3 --version; }
setup() {
cat > objects.py <<'EOF'
teams = "baseball basketball hockey soccer tennis rowing".split()
names = [f"{team}_{part}" for team in teams for part in "events scores players seasons injuries transfers stats odds venues media coaches awards drafts trades rules fans owners sponsors budgets ticketing".split()]
print([{"schema": "public", "name": name, "type": "VIEW" if name == "tennis_odds" else "BASE TABLE", "owner": "league", "comment": None, "persistence": "permanent", "rls": False} for name in names])
EOF
}
run() { python3 objects.py; }
