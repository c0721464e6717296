# AddressSanitizer: a heap overflow in a program that talks a lot
version() { gcc --version | head -1; }
setup() {
cat > decode.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned checksum(const unsigned char *data, size_t size) {
    unsigned sum = 0;
    for (size_t i = 0; i <= size; i++) sum = sum * 31 + data[i];
    return sum;
}

static unsigned decode_packet(size_t size, int number) {
    unsigned char *packet = malloc(size + (number == 211 ? 0 : 1));
    memset(packet, number, size + (number == 211 ? 0 : 1));
    unsigned sum = checksum(packet, size);
    free(packet);
    return sum;
}

int main(void) {
    for (int number = 0; number < 300; number++) {
        size_t size = 64 + (size_t)number % 7 * 8;
        fprintf(stderr, "packet %3d: %zu bytes, checksum %08x, error bits 0\n", number, size, decode_packet(size, number));
    }
    return 0;
}
EOF
gcc -g -O0 -fsanitize=address -fno-omit-frame-pointer decode.c -o decode
}
run() { ./decode; }
