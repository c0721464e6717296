# git push: the server's hook checks every file and refuses
version() { git --version; }
setup() {
git init -q --bare ../origin.git
cat > ../origin.git/hooks/pre-receive <<'EOF'
#!/bin/bash
while read -r old new ref; do
  echo "checking $ref (${new:0:10}) against the policy; errors stop the push"
  bad=0
  for file in $(git ls-tree -r --name-only "$new"); do
    size=$(git cat-file -s "$new:$file")
    if [ "$size" -gt 5000 ]; then
      echo "policy: $file has $size bytes, more than 5000; keep it in the artefact store"
      bad=1
    else
      echo "policy: $file ok ($size bytes)"
    fi
  done
  [ $bad = 0 ] || { echo "policy: $ref refused"; exit 1; }
done
EOF
chmod +x ../origin.git/hooks/pre-receive
git init -q -b main .
git remote add origin ../origin.git
mkdir -p data docs
for number in $(seq -w 1 320); do echo "row $number, no error" > data/part-$number.csv; done
seq 1 3000 > data/part-171.csv
git add . && git commit -qm 'Data of October'
}
run() { git push --progress origin main; }
