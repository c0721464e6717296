# shellcheck in colours: advice by the hundred, one file that does not parse
version() { echo "shellcheck $(shellcheck --version | grep ^version: | cut -d' ' -f2)"; }
setup() {
for name in archive backup clean deploy export fetch gather import join mirror; do
cat > $name.sh <<EOF
#!/bin/bash
cd /srv/$name
for file in \`ls *.log\`; do
  cat \$file | grep error > \$file.errors
  if [ \$? -eq 0 ]; then echo "errors in "\$file; fi
done
read answer
rm -rf \$TARGET/*
unused=\$1
EOF
done
printf 'if [ -z "$MODE"]; then\n  echo none\nfi\n' >> deploy.sh
}
run() { shellcheck --color=always *.sh; }
