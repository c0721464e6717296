# g++: thirty errors of four kinds in one file, each with its notes
version() { g++ --version | head -1; }
setup() {
{
cat <<'EOF'
#include <algorithm>
#include <set>
#include <string>
#include <vector>

struct Point { int x, y; };
struct Shape { virtual double area() const = 0; };

EOF
for n in $(seq 1 9); do echo "int sum_$n(const std::vector<int> &values) { return values.total(); }"; done
for n in $(seq 1 8); do echo "std::string name_$n() { return undeclared_name_$n + \"x\"; }"; done
for n in $(seq 1 7); do echo "void order_$n(std::vector<Point> &points) { std::sort(points.begin(), points.end()); }" | sed "s/order_[2-7]/&/"; [ $n = 1 ] || true; done | head -1
for n in $(seq 1 12); do echo "double area_$n() { Shape shape; return shape.area(); }"; done
} > shapes.cpp
}
run() { g++ -std=c++17 -Wall -c shapes.cpp -o shapes.o; }
