/* Texts numbered in the order in which they are first seen: a hash table of pieces of bytes that live elsewhere.

   The hash is SipHash-1-3 with a key that nobody outside of the process knows, as that of Python's own dictionaries: nobody can
   write lines that all fall into one place of the table. */
#ifndef SPILLOVER_TEXTS_H
#define SPILLOVER_TEXTS_H

#include "loops.h"

typedef struct {
    const uint8_t *at;
    size_t size;
    uint64_t hash;
} Text;

typedef struct {
    Text *texts; /* by number */
    uint32_t *slots; /* a number and one, 0 where there is none */
    size_t mask, count;
} Texts;

/* Memory that is taken piece by piece. */
typedef struct {
    uint8_t *at, *end;
} Memory;

/* Return the next piece of it, or NULL if there is not so much left. */
static inline void *take_memory(Memory *memory, size_t size) {
    size_t skip = (size_t)(-(uintptr_t)memory->at & 7), left = (size_t)(memory->end - memory->at);
    if (left < skip || left - skip < size)
        return NULL;
    void *piece = memory->at + skip;
    memory->at += skip + size;
    return piece;
}

/* Make a table for so many texts. Returns -1 where there is no memory for it. */
static inline int make_texts(Texts *texts, size_t most, Memory *memory) {
    size_t slots = 16;
    while (slots < 2 * most)
        slots *= 2;
    texts->texts = take_memory(memory, most * sizeof(Text));
    texts->slots = take_memory(memory, slots * sizeof(uint32_t));
    texts->mask = slots - 1;
    texts->count = 0;
    if (!texts->texts || !texts->slots)
        return -1;
    memset(texts->slots, 0, slots * sizeof(uint32_t));
    return 0;
}

/* Take a key from Python's own hashes. Returns -1, with an error set, if there is no memory. */
static inline int hash_key(uint64_t key[2]) {
    static const char *const names[] = {"spillover: rows", "spillover: messages"};
    for (int i = 0; i < 2; i++) {
        PyObject *name = PyBytes_FromString(names[i]);
        if (!name)
            return -1;
        key[i] = (uint64_t)PyObject_Hash(name);
        Py_DECREF(name);
    }
    return 0;
}

static inline uint64_t turn(uint64_t word, int bits) {
    return word << bits | word >> (64 - bits);
}

#define ROUND                                                                                                                  \
    do {                                                                                                                       \
        a += b, b = turn(b, 13) ^ a, a = turn(a, 32);                                                                          \
        c += d, d = turn(d, 16) ^ c;                                                                                           \
        a += d, d = turn(d, 21) ^ a;                                                                                           \
        c += b, b = turn(b, 17) ^ c, c = turn(c, 32);                                                                          \
    } while (0)

static inline uint64_t hash_text(const uint8_t *at, size_t size, const uint64_t key[2]) {
    uint64_t a = key[0] ^ 0x736f6d6570736575u, b = key[1] ^ 0x646f72616e646f6du;
    uint64_t c = key[0] ^ 0x6c7967656e657261u, d = key[1] ^ 0x7465646279746573u, word, last = (uint64_t)size << 56;
    size_t left = size;
    for (; left >= 8; at += 8, left -= 8) {
        memcpy(&word, at, 8);
        d ^= word;
        ROUND;
        a ^= word;
    }
    if (left && size >= 8) {
        memcpy(&word, at + left - 8, 8);
        last |= word >> (64 - 8 * left);
    } else {
        for (size_t i = 0; i < left; i++)
            last |= (uint64_t)at[i] << (8 * i);
    }
    d ^= last;
    ROUND;
    a ^= last;
    c ^= 0xFF;
    ROUND;
    ROUND;
    ROUND;
    return a ^ b ^ c ^ d;
}

/* Return the number of a text; there must be room if it is a new one. */
static inline size_t number_text(Texts *texts, const uint8_t *at, size_t size, const uint64_t key[2]) {
    uint64_t hash = hash_text(at, size, key);
    for (size_t slot = hash & texts->mask;; slot = (slot + 1) & texts->mask) {
        if (!texts->slots[slot]) {
            texts->texts[texts->count] = (Text){at, size, hash};
            texts->slots[slot] = (uint32_t)++texts->count;
            return texts->count - 1;
        }
        size_t number = texts->slots[slot] - 1;
        const Text *text = &texts->texts[number];
        if (text->hash == hash && text->size == size && !memcmp(text->at, at, size))
            return number;
    }
}

#endif
