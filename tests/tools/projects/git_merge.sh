# git merge: a long list of files merged by themselves, two in conflict
version() { git --version; }
setup() {
git init -q -b main .
mkdir -p locales/web locales/mail src
for name in af ar bg bn ca cs da de el en eo es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ko lt lv mk ml mn mr ms my nb ne nl pa pl ps pt ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi zh; do
seq 1 30 | sed "s/^/$name.message./" | tee locales/web/$name.properties > locales/mail/$name.properties
done
seq 1 40 | sed 's/^/line /' > src/checkout.ts
seq 1 40 | sed 's/^/line /' > src/errors.ts
seq 1 40 | sed 's/^/line /' > src/session.ts
git add . && git commit -qm 'Start'
git switch -qc feature
for file in locales/*/*; do sed -i '3s/$/ = changed on the branch/' $file; done
sed -i '20s/.*/const retries = 5/' src/checkout.ts
sed -i '5s/.*/throw new ConflictError()/' src/errors.ts
git rm -q src/session.ts
git commit -qam 'Retry more often, drop the session'
git switch -q main
for file in locales/*/*; do sed -i '27s/$/ = changed on main/' $file; done
sed -i '20s/.*/const retries = 1/' src/checkout.ts
sed -i '35s/.*/export {}/' src/errors.ts
sed -i '9s/.*/const ttl = 60/' src/session.ts
git commit -qam 'Retry once'
}
run() { git merge --no-edit feature; git status; }
