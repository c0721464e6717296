# cmake and make on a terminal: libraries are built, a program does not link
# On a terminal.
version() { cmake --version | head -1; }
setup() {
mkdir -p src
{
echo 'cmake_minimum_required(VERSION 3.20)'
echo 'project(atlas C CXX)'
echo 'include(CheckIncludeFile)'
echo 'foreach(header stdio.h stdlib.h unistd.h pthread.h sys/epoll.h sys/event.h linux/io_uring.h port.h poll.h)'
echo '  string(MAKE_C_IDENTIFIER "HAVE_${header}" name)'
echo '  check_include_file(${header} ${name})'
echo 'endforeach()'
for part in core geo io math net render tiles; do
files=
for number in $(seq 1 9); do
echo "int ${part}_${number}(int x) { return x * $number; }" > src/${part}_$number.c
files="$files src/${part}_$number.c"
done
echo "add_library($part STATIC$files)"
done
echo 'add_executable(atlas src/main.c)'
echo 'target_link_libraries(atlas core geo io math net render)'
echo 'add_executable(bake src/bake.c)'
echo 'target_link_libraries(bake tiles)'
} > CMakeLists.txt
cat > src/main.c <<'EOF'
int core_1(int); int tiles_3(int); int render_flush(int);
int main(void) { return core_1(1) + tiles_3(2) + render_flush(3); }
EOF
echo 'int tiles_1(int); int main(void) { return tiles_1(0); }' > src/bake.c
}
run() { cmake -S . -B build && cmake --build build --verbose -- -k; }
