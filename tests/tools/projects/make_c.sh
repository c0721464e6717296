# make -k: a hundred compile lines with warnings, two files with an error
version() { echo "$(make --version | head -1), gcc $(gcc -dumpfullversion)"; }
setup() {
mkdir -p src include
cat > Makefile <<'EOF'
CC = gcc
CFLAGS = -std=c11 -O0 -g -Wall -Wextra -Wshadow -Wconversion -Iinclude -DNDEBUG -D_GNU_SOURCE -fPIC
OBJECTS = $(patsubst src/%.c,build/%.o,$(wildcard src/*.c))

libwire.so: $(OBJECTS)
	$(CC) -shared -o $@ $^
build/%.o: src/%.c | build
	$(CC) $(CFLAGS) -MMD -c $< -o $@
build:
	mkdir -p build
EOF
cat > include/wire.h <<'EOF'
struct frame { unsigned length; unsigned char kind; const char *body; };
int frame_check(const struct frame *frame, int strict);
EOF
for name in ack alloc auth base64 buffer close codec crc32 dict dns error event fail_over frame glob grid gzip halt handle handshake header hex hash http idle json keepalive lexer list log map md5 mux nonce open packet parser ping pipe plan pool queue quota random read retry ring route sha1 socket stats stream string timer tls tag task text token trace tree uri utf8 varint window write xml yaml zone; do
cat > src/$name.c <<EOF
#include "wire.h"
int ${name}_apply(struct frame *frame, int depth);
int ${name}_apply(struct frame *frame, int depth) {
    return frame->length > 0 ? frame->kind + depth : -1;
}
EOF
done
for name in crc32 hex parser route varint; do
cat >> src/$name.c <<EOF
static int ${name}_spare(int value) { return value; }
unsigned char ${name}_low(int wide);
unsigned char ${name}_low(int wide) { unsigned char low = wide; return low; }
EOF
done
sed -i 's/frame->kind + depth/frame->type + depth/' src/keepalive.c
sed -i 's/: -1;/: -1/' src/ring.c
}
run() { make -k; }
