# a client that waits for its database: three thousand equal lines, and in the middle of them the reason
version() { python3 --version; }
setup() {
cat > wait.py <<'END'
for number in range(3000):
    print("pool: waiting")
    if number == 1700:
        print("psycopg.OperationalError: connection to server at \"10.0.0.7\", port 5432 failed: FATAL:  too many clients already")
print("gave up after 3000 attempts")
END
}
run() { python3 wait.py; }
