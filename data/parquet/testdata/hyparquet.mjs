// Writes hyparquet.parquet, which TestOtherWriter reads, by another implementation than ours:
// npm install hyparquet-writer@0.17.0 hyparquet@1.31.5 && node hyparquet.mjs
// With the name of a file it prints the rows of that as JSON instead: node hyparquet.mjs FILE.
import { parquetWriteFile } from 'hyparquet-writer'
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet'

const plain = v => typeof v === 'bigint' ? Number(v) : v && v.buffer ? Array.from(v) : v
if (process.argv[2]) {
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(process.argv[2]) })
  process.stdout.write(JSON.stringify(rows, (_, v) => plain(v)), () => process.exit())
  await new Promise(() => {})
}
const n = 300
const rows = f => Array.from({ length: n }, (_, i) => f(i))
const classes = ['cat', 'dog', 'häuser']
parquetWriteFile({
  filename: 'hyparquet.parquet',
  rowGroupSize: 120,
  pageSize: 700,
  codec: 'SNAPPY',
  columnData: [
    { name: 'id', data: rows(i => BigInt(7 * i)), encoding: 'DELTA_BINARY_PACKED' },
    { name: 'label', data: rows(i => i % 5 ? classes[i % 3] : null) },
    { name: 'name', data: rows(i => `n${i}`), encoding: 'DELTA_LENGTH_BYTE_ARRAY' },
    { name: 'half', data: rows(i => i / 8 - 4) },
    { name: 'split', data: rows(i => i / 4), encoding: 'BYTE_STREAM_SPLIT' },
    { name: 'ok', data: rows(i => i % 3 === 0) },
    { name: 'vector', data: rows(i => [i, i + 0.5, -i]) },
  ],
  schema: [
    { name: 'root', num_children: 7 },
    { name: 'id', type: 'INT64', repetition_type: 'REQUIRED' },
    { name: 'label', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'OPTIONAL' },
    { name: 'name', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
    { name: 'half', type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2, logical_type: { type: 'FLOAT16' }, repetition_type: 'REQUIRED' },
    { name: 'split', type: 'DOUBLE', repetition_type: 'REQUIRED' },
    { name: 'ok', type: 'BOOLEAN', repetition_type: 'REQUIRED' },
    { name: 'vector', repetition_type: 'OPTIONAL', converted_type: 'LIST', num_children: 1 },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    { name: 'element', type: 'FLOAT', repetition_type: 'OPTIONAL' },
  ],
})
