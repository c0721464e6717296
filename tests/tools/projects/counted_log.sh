# a copy that counts its lines as a listing does ("12: copied ..."), one of a thousand refused
version() { python3 --version; }
setup() {
cat > copy.py <<'END'
for number in range(1, 1001):
    if number == 634:
        print(f"{number}: ERROR: cannot open /srv/data/ledger.db: permission denied")
    else:
        print(f"{number}: copied /srv/data/{number * 7919 % 10007}.bin in {number % 17} ms")
END
}
run() { python3 copy.py; }
