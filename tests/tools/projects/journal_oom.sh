# journalctl: a day of a small server, on which the kernel kills the database for lack of memory
version() { journalctl --version | head -1; }
setup() {
python3 - > day.export <<'EOF'
start = 1_767_225_600_000_000
rows = []
for minute in range(300):
    at = start + minute * 60_000_000
    rows.append((at, "systemd", 1, 6, f"Started session-{minute}.scope - Session {minute} of User deploy."))
    rows.append((at + 1_000_000, "sshd", 812, 6, f"Accepted publickey for deploy from 10.0.3.{minute % 250} port {40000 + minute} ssh2"))
    rows.append((at + 9_000_000, "sshd", 812, 6, f"Disconnected from user deploy 10.0.3.{minute % 250} port {40000 + minute}"))
    if minute % 5 == 0:
        rows.append((at + 20_000_000, "web", 911, 4, f"upstream timed out (110: Connection timed out) while reading response header, request {minute * 37}"))
    if minute % 7 == 0:
        rows.append((at + 21_000_000, "cron", 633, 6, f"(root) CMD (/usr/local/bin/check-disk --warn 80 # run {minute})"))
at = start + 217 * 60_000_000 + 30_000_000
rows += [
    (at, "kernel", 0, 4, "postgres invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE|__GFP_COMP|__GFP_ZERO), order=0, oom_score_adj=0"),
    (at + 1000, "kernel", 0, 6, "Mem-Info: active_anon:412833 inactive_anon:51220 isolated_anon:0"),
    (at + 2000, "kernel", 0, 3, "Out of memory: Killed process 1422 (postgres) total-vm:8412556kB, anon-rss:6123340kB, file-rss:1204kB, shmem-rss:0kB, UID:114 pgtables:13160kB oom_score_adj:0"),
    (at + 900_000, "systemd", 1, 4, "postgresql.service: A process of this unit has been killed by the OOM killer."),
    (at + 950_000, "systemd", 1, 4, "postgresql.service: Failed with result 'oom-kill'."),
]
for number, (at, name, pid, priority, text) in enumerate(sorted(rows)):
    print(f"__CURSOR=s=1;i={number}\n__REALTIME_TIMESTAMP={at}\n__MONOTONIC_TIMESTAMP={at - start}\n_BOOT_ID={'0' * 31}1\n_MACHINE_ID={'0' * 31}2\n_HOSTNAME=shop-3\nPRIORITY={priority}\nSYSLOG_IDENTIFIER={name}" + (f"\n_PID={pid}" if pid else "") + f"\nMESSAGE={text}\n")
EOF
/lib/systemd/systemd-journal-remote --output=day.journal day.export
}
run() { TZ=UTC journalctl --no-pager --file=day.journal; }
