# a long report in markdown, as a sub-agent or a page of the web has it: sections, listings, a table, a conclusion
version() { cat --version | head -1; }
setup() {
cat > write.py <<'EOF'
services = [("billing", "charge.py", "retry_charge"), ("mailer", "queue.py", "drain_queue"), ("catalog", "index.py", "rebuild_index"), ("stock", "reserve.py", "release_expired"), ("login", "session.py", "rotate_key"), ("search", "rank.py", "score_hits")]
print("I have all I need. Here is the full report.\n\n# Why night jobs take four hours\n\nThe jobs are slow for one reason: `retry_charge` waits for a lock that `release_expired` holds. Everything else is minor.\n")
for number, (service, file, function) in enumerate(services, 1):
    print(f"## {number}. The {service} service\n\nThe {service} service lives in `services/{service}/{file}` and does its nightly work in `{function}()`. It was read line by line, and what follows is what was found in it, in the order in which it runs.\n")
    print("It opens a connection, reads its settings, and takes its share of the work. " * 6 + "\n")
    print(f"```python\n# services/{service}/{file}\ndef {function}(batch):\n    for item in batch:\n        with connection() as db:\n            db.execute('select 1')\n            db.commit()\n        log.info('done %s', item)\n        sleep(0.1)\n    return len(batch)\n```\n")
    print(f"- It runs at 0{number}:00 and takes {number * 7} minutes.\n- It writes to `var/log/{service}.log`, which nobody reads.\n- Its timeout is {number * 30} seconds, set in `config/{service}.toml`.\n")
print("## Measured\n\n| service | minutes | share |\n|---|---|---|")
for number, (service, _, _) in enumerate(services, 1):
    print(f"| {service} | {number * 7} | {number * 4} % |")
print("\n## Conclusion\n\nTake the lock later: move `acquire_lock()` in `services/stock/reserve.py` below the loop, and set `lock_timeout` in `config/stock.toml` to 5 seconds. Nothing else has to change.")
EOF
python3 write.py > REPORT.md
}
run() { cat REPORT.md; }
