# git show: one commit over thirty files, a rename, a binary file and a generated one
version() { git --version; }
setup() {
git init -q -b main .
mkdir -p shop web vendor/lib
for n in $(seq -w 1 26); do printf 'import logging\n\nlog = logging.getLogger(__name__)\n\n\ndef handle_%s(request):\n    log.info("handling %%s", request)\n    return request\n' $n > shop/handler_$n.py; done
seq 1 900 | sed 's/.*/var v& = &;/' > vendor/lib/bundle.min.js
head -c 3000 /dev/urandom > web/logo.png
printf 'def rate(country):\n    return {"DE": 19, "FR": 20}[country]\n' > shop/rates.py
git add . && git commit -qm "Start"
for file in shop/handler_*.py; do sed -i 's/log.info("handling %s", request)/log.debug("handling %s", request)/' $file; done
seq 1 900 | sed 's/.*/var w& = &;/' > vendor/lib/bundle.min.js
head -c 3000 /dev/urandom > web/logo.png
printf 'DEFAULT = 21\n\n\ndef rate(country):\n    return {"DE": 19, "FR": 20}.get(country, DEFAULT)\n' > shop/rates.py
git mv shop/handler_13.py shop/checkout.py
git add . && GIT_AUTHOR_DATE="2026-02-01 12:00 +0000" GIT_COMMITTER_DATE="2026-02-01 12:00 +0000" git commit -qm "Charge a default rate for unknown countries

Logging every request at info drowned the log."
}
run() { git --no-pager show; }
