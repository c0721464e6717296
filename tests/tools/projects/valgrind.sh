# valgrind: reads after free and a leak, between the program's own lines
version() { valgrind --version; }
setup() {
cat > cache.c <<'EOF'
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct entry { char *key; int hits; };

static struct entry *entry_new(const char *key) {
    struct entry *entry = malloc(sizeof *entry);
    entry->key = strdup(key);
    entry->hits = 0;
    return entry;
}

static void evict(struct entry *entry) {
    free(entry->key);
    free(entry);
}

static void touch(struct entry *entry) {
    entry->hits++;
}

int main(void) {
    char key[32];
    for (int number = 0; number < 260; number++) {
        snprintf(key, sizeof key, "user:%04d:profile", number * 7);
        struct entry *entry = entry_new(key);
        printf("cache: stored %s (slot %d, no error)\n", entry->key, number % 64);
        fflush(stdout);
        if (number == 97) {
            evict(entry);
            touch(entry);
        } else if (number != 200)
            evict(entry);
        else
            entry = NULL;
    }
    return 0;
}
EOF
gcc -g -O0 cache.c -o cache
}
run() { valgrind --leak-check=full ./cache; }
