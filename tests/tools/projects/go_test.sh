# go test -v ./...: a failing table, a package that panics, one that does not build
version() { go version; }
setup() {
export GOCACHE=$PWD/.cache GOFLAGS=-mod=mod
printf 'module example.org/fleet\n\ngo 1.19\n' > go.mod
for name in billing drivers fuel maps; do
mkdir -p $name
cat > $name/${name}_test.go <<EOF
package $name

import (
	"fmt"
	"testing"
)

func Km(miles float64) float64 { return miles * 1.609 }

func TestErrorsOf_$name(t *testing.T) {
	for i := 0; i < 40; i++ {
		t.Run(fmt.Sprintf("distance_%d_miles", i*25), func(t *testing.T) {
			if Km(float64(i)) < float64(i) {
				t.Errorf("too short")
			}
		})
	}
}
EOF
done
mkdir -p planner router
cat > drivers/shift_test.go <<'EOF'
package drivers

import "testing"

func Hours(from, to int) int { return to - from }

func TestHours(t *testing.T) {
	for _, c := range []struct {
		name           string
		from, to, want int
	}{{"day", 8, 16, 8}, {"late", 14, 22, 8}, {"night", 22, 6, 8}, {"none", 0, 0, 0}} {
		t.Run(c.name, func(t *testing.T) {
			if got := Hours(c.from, c.to); got != c.want {
				t.Errorf("Hours(%d, %d) = %d, want %d", c.from, c.to, got, c.want)
			}
		})
	}
}
EOF
cat > planner/planner_test.go <<'EOF'
package planner

import "testing"

type stop struct{ next *stop }

func last(s *stop) *stop {
	for s.next != s {
		s = s.next
	}
	return s
}

func TestLastStop(t *testing.T) {
	if last(&stop{next: &stop{}}) == nil {
		t.Fatal("no stop")
	}
}
EOF
cat > router/router.go <<'EOF'
package router

import "strconv"

func Port(text string) int {
	port := strconv.Atoi(text)
	return port
}
EOF
echo 'package router' > router/router_test.go
}
run() { GOCACHE=$PWD/.cache go test -v ./...; }
