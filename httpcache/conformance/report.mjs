// Sorts the results of the suite by kind: report.mjs SUITE RAW RESULTS
import { readFileSync, writeFileSync } from 'node:fs'

const [suite, raw, out] = process.argv.slice(2)
const { default: sections } = await import(`${suite}/tests/index.mjs`)
const found = JSON.parse(readFileSync(raw, 'utf8'))
const kinds = { required: {}, optimal: {}, check: {} }
for (const section of sections) {
  for (const test of section.tests) {
    if (test.browser_only) continue
    const result = found[test.id]
    kinds[test.kind || 'required'][test.id] = result === true ? true : (result || ['untested']).join(': ')
  }
}
const lines = []
for (const [kind, tests] of Object.entries(kinds)) {
  const all = Object.values(tests)
  console.log(`${kind}: ${all.filter(r => r === true).length} of ${all.length}`)
  for (const [id, result] of Object.entries(tests)) {
    if (kind !== 'check' && result !== true) console.log(`  ${id}: ${result}`)
  }
  const sorted = Object.keys(tests).sort().map(id => `    ${JSON.stringify(id)}: ${JSON.stringify(tests[id])}`)
  lines.push(`  ${JSON.stringify(kind)}: {\n${sorted.join(',\n')}\n  }`)
}
writeFileSync(out, `{\n${lines.join(',\n')}\n}\n`)
