# npm install --loglevel silly: one package's script fails
version() { echo "npm $(npm --version)"; }
setup() {
mkdir -p native/lib
cat > native/package.json <<'EOF'
{"name": "fast-checksum", "version": "2.1.0", "scripts": {"postinstall": "node build.js"}}
EOF
cat > native/build.js <<'EOF'
const {execFileSync} = require('child_process');
console.log('fast-checksum: no prebuilt binary for this platform, building from source');
execFileSync('gcc', ['-shared', '-fPIC', '-o', 'checksum.so', 'lib/checksum.c'], {stdio: 'inherit'});
EOF
printf '#include <stdint.h>\n#include <isa-l/crc.h>\nuint32_t checksum(const unsigned char *data, uint64_t size) { return crc32_iscsi((unsigned char *)data, size, 0); }\n' > native/lib/checksum.c
echo '{"name": "uploader", "version": "1.0.0", "dependencies": {"express": "^4.21.0", "yargs": "^17.7.2", "fast-checksum": "file:./native"}, "allowScripts": {"fast-checksum": true, "fast-checksum@file:native": true, "file:native": true}}' > package.json
}
run() { npm install --loglevel silly --install-links=false --foreground-scripts --dangerously-allow-all-scripts --cache "$PWD/.npm" --no-audit --no-fund; }
