# a deploy script with set -x: stops at the command that fails
version() { bash --version | head -1; }
setup() {
mkdir -p release/assets target
for number in $(seq -w 1 45); do echo "asset $number" > release/assets/bundle.$number.js; done
echo '{"version": "4.2.0", "checksums": 45}' > release/manifest.json
rm release/assets/bundle.33.js; ln -s /nowhere/bundle.33.js release/assets/bundle.33.js
cat > deploy.sh <<'EOF'
set -euxo pipefail
version=$(python3 -c 'import json; print(json.load(open("release/manifest.json"))["version"])')
on_error=rollback
for asset in release/assets/*.js; do
    name=$(basename "$asset" .js)
    mkdir -p "target/$version"
    sum=$(sha256sum "$asset" | cut -c1-12)
    cp "$asset" "target/$version/$name.$sum.js"
    echo "deployed $name as $name.$sum.js, errors so far: 0"
done
echo "all assets of $version are in place"
EOF
}
run() { bash deploy.sh; echo "exit code $?"; }
