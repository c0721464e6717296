# sqlite3 -json: the tables of a shop with their columns, one row a column, as tools for databases answer
version() { sqlite3 --version | cut -d' ' -f1 | sed 's/^/sqlite3 /'; }
setup() {
for table in customers orders order_items lamps suppliers refunds invoices shipments carriers warehouses; do
  sqlite3 shop.db "CREATE TABLE $table (id INTEGER PRIMARY KEY, ${table}_code TEXT NOT NULL, created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, updated_at TEXT, note TEXT)"
done
sqlite3 shop.db "ALTER TABLE refunds ADD COLUMN approved_by TEXT" "ALTER TABLE orders ADD COLUMN paid_with TEXT DEFAULT 'card'"
}
run() { sqlite3 -json shop.db "SELECT m.name AS table_name, p.cid, p.name AS column_name, p.type AS data_type, p.'notnull' AS required, p.dflt_value AS default_value, p.pk AS primary_key FROM sqlite_master m JOIN pragma_table_info(m.name) p WHERE m.type = 'table' ORDER BY m.name, p.cid"; }
