# tsc --build --verbose: seventy packages, one with two type errors
version() { echo "TypeScript $(tsc --version)"; }
setup() {
previous=
references=
for number in $(seq -w 1 70); do
mkdir -p packages/unit$number/src
cat > packages/unit$number/tsconfig.json <<EOF
{"compilerOptions": {"composite": true, "strict": true, "noLib": false, "types": [], "lib": ["es2020"], "skipLibCheck": true, "module": "nodenext", "outDir": "dist", "rootDir": "src"},
 "include": ["src"], "references": [$previous]}
EOF
cat > packages/unit$number/src/index.ts <<EOF
export interface Row$number { id: number; name: string; tags: string[] }
export const find = (rows: Row$number[], id: number): Row$number | undefined => rows.find((row) => row.id === id);
EOF
references="$references${references:+, }{\"path\": \"packages/unit$number\"}"
[ $((10#$number % 10)) = 0 ] && previous= || previous="{\"path\": \"../unit$number\"}"
done
cat >> packages/unit37/src/index.ts <<'EOF'
export const title = (rows: Row37[], id: number): string => find(rows, id).name.toUpperCase();
export const tagged = (row: Row37): number => row.tags.join(", ");
EOF
echo "{\"files\": [], \"references\": [$references]}" > tsconfig.json
}
run() { tsc --build --verbose; }
