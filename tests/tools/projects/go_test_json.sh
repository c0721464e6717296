# go test -json: every line an object, one test fails
version() { go version; }
setup() {
printf 'module example.org/ledger\n\ngo 1.19\n' > go.mod
cat > ledger_test.go <<'EOF'
package ledger

import (
	"fmt"
	"testing"
)

func Balance(entries []int) (sum int) {
	for _, entry := range entries[1:] {
		sum += entry
	}
	return sum
}

func TestBalance(t *testing.T) {
	for i := 0; i < 45; i++ {
		t.Run(fmt.Sprintf("error_budget_%d", i), func(t *testing.T) {
			entries := []int{0, i, -i}
			if i == 28 {
				entries = []int{5, i, -i}
			}
			want := entries[0] + entries[1] + entries[2]
			if got := Balance(entries); got != want {
				t.Errorf("Balance(%v) = %d, want %d", entries, got, want)
			}
		})
	}
}
EOF
}
run() { GOCACHE=$PWD/.cache go test -json ./...; }
