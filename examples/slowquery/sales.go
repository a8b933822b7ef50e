package main

import "database/sql"

// fill makes the table of sales if there is none: 100,000 sales to 100
// customers, without an index, so that a report has to read all of it.
func fill(db *sql.DB) error {
	_, err := db.Exec(`
		CREATE TABLE IF NOT EXISTS sales (customer TEXT NOT NULL, cents INTEGER NOT NULL);
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
		INSERT INTO sales SELECT 'customer-' || (i % 100), i % 977
		FROM n WHERE NOT EXISTS (SELECT 1 FROM sales);`)
	return err
}
