# ctest --output-on-failure: three of 160 fail, one of them in time
version() { ctest --version | head -1; }
setup() {
cat > probe.c <<'EOF'
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PAGE_SIZE 4096
#define CHECK_EQUAL(found, wanted) \
    if ((found) != (wanted)) { \
        fprintf(stderr, "%s:%d: check failed: %s is %d, wanted %d\n", __FILE__, __LINE__, #found, (found), (wanted)); \
        exit(1); \
    }

static int decoded_size(int number) { return number == 37 ? PAGE_SIZE - 1 : PAGE_SIZE; }
static void page_split(int used) { assert(used <= PAGE_SIZE); }

int main(int count, char **words) {
    const char *suite = words[1];
    int number = atoi(words[count - 1]);
    printf("suite %s, case %d\n", suite, number);
    fflush(stdout);
    if (!strcmp(suite, "codec_error")) CHECK_EQUAL(decoded_size(number), PAGE_SIZE);
    if (!strcmp(suite, "store_compact")) page_split(4000 + 13 * (number == 8) * number);
    if (!strcmp(suite, "net_reconnect") && number == 12) sleep(5);
    return 0;
}
EOF
gcc probe.c -o probe
{
echo 'cmake_minimum_required(VERSION 3.20)'
echo 'project(probe NONE)'
echo 'enable_testing()'
for suite in codec_error net_reconnect store_compact view_layout; do
for number in $(seq 1 40); do
echo "add_test(NAME ${suite}_$number COMMAND \${CMAKE_SOURCE_DIR}/probe $suite $number)"
done
done
echo 'set_tests_properties(net_reconnect_12 PROPERTIES TIMEOUT 1)'
} > CMakeLists.txt
cmake -S . -B build
}
run() { ctest --test-dir build --output-on-failure; }
