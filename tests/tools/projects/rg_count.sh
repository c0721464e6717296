# rg -c: how often a word stands in each of three hundred files
version() { rg --version | head -1; }
setup() {
for d in src/api src/jobs src/web tests vendor/lib; do mkdir -p $d
for n in $(seq 1 60); do for k in $(seq 0 $((n % 4))); do echo "TODO part $k"; done > $d/part_$n.py; done; done
for k in $(seq 1 412); do echo "TODO $k"; done > src/web/legacy_templates.py
}
run() { rg -c --sort path TODO; }
