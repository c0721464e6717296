# vitest run, verbose: a thrown error and a wrong value
version() { vitest --version | head -1; }
setup() {
ln -s "$TOOLS/js/node_modules" node_modules
echo '{"name": "dates", "type": "module", "version": "1.0.0"}' > package.json
mkdir -p src
cat > src/duration.js <<'EOF'
const UNITS = { s: 1, m: 60, h: 3600, d: 86400 }

export function parse(text) {
  const match = /^(\d+)([smhd])$/.exec(text)
  if (!match) throw new RangeError(`not a duration: ${JSON.stringify(text)}`)
  return Number(match[1]) * UNITS[match[2]]
}

export function format(seconds) {
  const hours = Math.floor(seconds / 3600)
  const minutes = Math.floor((seconds % 3600) / 60)
  return `${hours}h ${minutes}m`
}
EOF
for file in calendar clock errors holidays intervals leap months parser quarters reminders rounding schedule shifts timers weeks zones; do
cat > src/$file.test.js <<EOF
import { describe, expect, it } from 'vitest'
import { format, parse } from './duration.js'

describe('$file', () => {
  it.each([1, 2, 5, 10, 30, 59])('reads %d minutes', (n) => {
    expect(parse(n + 'm')).toBe(n * 60)
  })
  it.each([1, 12, 23])('writes %d hours', (n) => {
    expect(format(n * 3600)).toBe(n + 'h 0m')
  })
  it('fails on an error in $file', () => {
    expect(() => parse('soon')).toThrow(RangeError)
  })
})
EOF
done
cat > src/invoice.test.js <<'EOF'
import { describe, expect, it } from 'vitest'
import { format, parse } from './duration.js'

describe('invoice', () => {
  it('bills by the quarter of an hour', () => {
    expect(format(parse('50m'))).toBe('1h 0m')
  })
  it('takes compound durations', () => {
    expect(parse('1h30m')).toBe(5400)
  })
})
EOF
}
run() { vitest run --reporter=verbose --no-cache --pool=forks --poolOptions.forks.singleFork; }
