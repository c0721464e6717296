# cargo build in colours: a workspace with warnings, one borrow that is not allowed
# On a terminal.
version() { cargo --version; }
setup() {
mkdir -p crates
printf '[workspace]\nresolver = "2"\nmembers = ["crates/*"]\n' > Cargo.toml
for name in alloc_stats audit_log backoff blob_store cache_line cli_args config_file disk_queue error_chain event_bus feature_flags geo_index http_front id_pool job_runner key_ring lease_table mail_out metrics_sink name_service; do
mkdir -p crates/$name/src
printf '[package]\nname = "%s"\nversion = "0.3.1"\nedition = "2021"\n' $name > crates/$name/Cargo.toml
cat > crates/$name/src/lib.rs <<EOF
pub struct Entry { pub id: u64, pub name: String }

pub fn find(entries: &[Entry], id: u64) -> Option<&Entry> {
    let mut started = 0;
    let unused_limit = 100;
    entries.iter().find(|entry| entry.id == id)
}

fn never_called(value: u32) -> Result<u32, String> {
    if value > 3 { return Err("error".to_string()); }
    Ok(value)
}
EOF
done
cat >> crates/job_runner/src/lib.rs <<'EOF'

pub fn retry_all(jobs: &mut Vec<Entry>) {
    for job in jobs.iter() {
        if job.name.starts_with("retry") {
            jobs.push(Entry { id: job.id + 1, name: job.name.clone() });
        }
    }
}
EOF
}
run() { cargo build --offline --keep-going -j 2; }
