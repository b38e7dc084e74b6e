// Writes duckdb.parquet, which TestDuckDB reads, by DuckDB, whose last run of levels has up to 256 values too many:
// npm install @duckdb/node-api@1.5.6-r.1 && node duckdb.mjs
import { DuckDBInstance } from '@duckdb/node-api'

const db = await (await DuckDBInstance.create(':memory:')).connect()
await db.run(`
  COPY (SELECT i AS id,
               CASE WHEN i % 7 > 0 THEN ['cat', 'dog', 'häuser'][1 + i % 3] END AS label,
               CASE WHEN i % 7 <> 3 THEN i / 4.0::DOUBLE END AS score,
               i % 3 = 0 AS ok,
               (i % 100)::UTINYINT AS small,
               [i, i + 0.5, -i]::FLOAT[] AS vector
        FROM range(3000) r(i))
  TO 'duckdb.parquet' (FORMAT parquet, PARQUET_VERSION V2, CODEC zstd, ROW_GROUP_SIZE 2048)`)
