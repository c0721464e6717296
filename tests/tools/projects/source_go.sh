# cat -n: 2,000 lines of Go
version() { cat --version | head -1; }
setup() {
{ echo "package prices"; echo; echo "import ("; printf "\t\"errors\"\n\t\"fmt\"\n"; echo ")"; echo; echo "const DefaultMargin = 20"; echo; echo "type Item struct {"; printf "\tCost int\n\tName string\n"; echo "}"; for n in $(seq 1 120); do echo; echo "// Price$n returns price number $n."; echo "func (i *Item) Price$n(amount int) (int, error) {"; for k in $(seq 1 11); do printf "\tpart$k := i.Cost*amount + $n*$k\n"; done; printf "\tif part1 < 0 {\n\t\treturn 0, errors.New(\"no price\")\n\t}\n\treturn part1 + part11, nil\n"; echo "}"; done; } > prices.go
}
run() { cat -n prices.go; }
