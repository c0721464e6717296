# tar xvf: names that sound like failures (signal-exit, backtrace, errors.h), and two that could not be written
version() { tar --version | head -1; }
setup() {
mkdir -p in/cache in/man3 in/include in/fail-fast
for n in $(seq 1 40); do : > in/cache/signal-exit-3.0.$n.tgz; : > in/cache/abort-controller-$n.0.0.tgz; : > in/man3/backtrace_symbols_fd.$n.gz; : > in/man3/exit_group.$n.gz; : > in/include/error_$n.h; : > in/fail-fast/panic-handler-$n.rs; done
: > in/cache/ledger.bin; : > in/include/rates.h
tar cf in.tar --sort=name in
mkdir -p out/in/cache/ledger.bin/x out/in/include/rates.h/x
}
run() { tar xvf in.tar -C out; echo "exit status $?"; }
