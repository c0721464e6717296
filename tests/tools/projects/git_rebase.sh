# git rebase --exec on a terminal: thirty commits are tested one by one, the 21st breaks
# On a terminal.
version() { git --version; }
setup() {
git init -q -b main .
cat > check.sh <<'EOF'
count=$(wc -l < rules.txt)
for rule in $(cat rules.txt); do echo "checked $rule"; done
test "$(sort -u rules.txt | wc -l)" = "$count" || { echo "rules.txt: duplicate rule: $(sort rules.txt | uniq -d)"; exit 3; }
echo "$count rules, 0 errors"
EOF
echo first-rule > rules.txt
git add . && git commit -qm 'Start'
git switch -qc work
number=0
for name in ports hosts users quotas errors logs mails disks keys certs zones peers roles hooks jobs queues topics shards nodes racks ports lanes gates pools slots links ramps cells tiers flows; do
number=$((number + 1))
echo "$name-are-checked" >> rules.txt && git commit -qam "Check the $name (rule $number)"
done
git switch -q main && echo notes > NOTES && git add NOTES && git commit -qm 'Notes' && git switch -q work
}
run() { git rebase --exec 'bash check.sh' main; git status; }
