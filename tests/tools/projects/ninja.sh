# ninja on a terminal: status lines drawn over each other, two files of 240 fail
# On a terminal.
version() { echo "ninja $(ninja --version)"; }
setup() {
mkdir -p src
{
echo 'cmake_minimum_required(VERSION 3.20)'
echo 'project(orbit C)'
echo 'add_compile_options(-Wall -Wextra -fdiagnostics-color=always)'
files=
for part in ascent burn cargo dock error flight guide hull ion jet; do
for number in $(seq 1 24); do
echo "double ${part}_${number}(double thrust) { return thrust * $number; }" > src/${part}_$number.c
files="$files src/${part}_$number.c"
done
done
echo "add_library(orbit STATIC$files)"
} > CMakeLists.txt
for number in $(seq 1 24); do
echo "int spare_$number(int a, int b); int spare_$number(int a, int b) { int left; return a; }" >> src/hull_$number.c
done
echo 'double drift(double mass) { return masss * 2; }' >> src/dock_7.c
echo 'static int limits[2] = {1, 2, 3}; int widest(void) { return limit[0]; }' >> src/guide_20.c
cmake -S . -B build -G Ninja
}
run() { ninja -C build -j 2 -k 0; }
