# a Python service's own log (logging): a traceback with its cause in the middle, and the service goes on
version() { python --version; }
setup() {
cat > service.py <<'EOF'
"""Imports price lists; a bad one is logged and left out."""
import csv
import io
import logging
import random

logging.basicConfig(format="%(asctime)s %(levelname)-8s [%(name)s] %(message)s", level=logging.DEBUG)
log = logging.getLogger("prices.importer")
pool = logging.getLogger("prices.pool")
random.seed(7)


class BadPriceList(Exception):
    pass


def read(supplier, text):
    try:
        return [(row["sku"], round(float(row["price"]) * 100)) for row in csv.DictReader(io.StringIO(text))]
    except ValueError as error:
        raise BadPriceList(f"price list of {supplier}: line 3") from error


def main():
    for number in range(460):
        supplier = f"supplier-{number:03}"
        pool.debug("checked out connection %d of 20 (errors: 0, waits: %d)", random.randrange(20), random.randrange(3))
        text = "sku,price\n" + "".join(f"S{number}-{i},{random.randrange(100, 9999) / 100}\n" for i in range(3))
        if number == 284:
            text = text.replace("-1,", "-1,EUR ")
        try:
            rows = read(supplier, text)
        except BadPriceList:
            log.exception("import of %s failed; its old prices stay", supplier)
            continue
        log.info("imported %d prices of %s in %d ms", len(rows), supplier, random.randrange(4, 40))
        if number % 45 == 13:
            log.warning("%s has not changed a price since 30 days", supplier)
    log.info("done: 459 of 460 suppliers imported")


main()
EOF
}
run() { python service.py; }
