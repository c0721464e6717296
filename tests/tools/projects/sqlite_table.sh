# sqlite3 -header -csv: four hundred rows of a query, one of them with a negative price
version() { echo "sqlite3 $(sqlite3 --version | cut -d' ' -f1)"; }
setup() { :; }
run() {
sqlite3 -header -csv :memory: "CREATE TABLE item(id INTEGER, sku TEXT, site TEXT, price INTEGER, stock INTEGER);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)
INSERT INTO item SELECT i, 'LAMP-' || (10000 + i * 7919 % 9000), CASE i % 3 WHEN 0 THEN 'Kiel' WHEN 1 THEN 'Oslo' ELSE 'Cork' END, CASE i WHEN 287 THEN -4900 ELSE 1900 + i * 31 % 7000 END, i * 17 % 60 FROM n;
SELECT * FROM item;"
}
