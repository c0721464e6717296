/* How lines begin, counted by a hash: the twin of Beginnings.add in select/beginnings.py, in one pass. */
#include "loops.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#elif defined(__ARM_NEON) && defined(__aarch64__)
#include <arm_neon.h>
#endif

/* So many bytes are looked at for newlines at a time, */
#define STRETCH 64
/* starts of so many lines are noted before these are counted, */
#define STARTS 256
/* and so many of a line behind its clock are hashed. */
#define HASHED 16

/* Return which of the next 64 bytes are newlines, as bits. */
static inline uint64_t find_newlines(const uint8_t *text) {
    uint64_t found = 0;
#if defined(__x86_64__) && defined(__GNUC__)
    const __m128i newline = _mm_set1_epi8('\n');
    for (int i = 0; i < 4; i++) {
        __m128i equal = _mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(text + 16 * i)), newline);
        found |= (uint64_t)(uint32_t)_mm_movemask_epi8(equal) << 16 * i;
    }
#elif defined(__ARM_NEON) && defined(__aarch64__)
    static const uint8_t powers[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bit = vld1q_u8(powers), newline = vdupq_n_u8('\n');
    uint8x16_t bits[4];
    for (int i = 0; i < 4; i++)
        bits[i] = vandq_u8(vceqq_u8(vld1q_u8(text + 16 * i), newline), bit);
    uint8x16_t sum = vpaddq_u8(vpaddq_u8(bits[0], bits[1]), vpaddq_u8(bits[2], bits[3]));
    found = vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
#else
    for (int i = 0; i < STRETCH; i++)
        found |= (uint64_t)(text[i] == '\n') << i;
#endif
    return found;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static inline uint64_t find_newlines_by_avx2(const uint8_t *text) {
    const __m256i newline = _mm256_set1_epi8('\n');
    __m256i one = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)text), newline);
    __m256i two = _mm256_cmpeq_epi8(_mm256_loadu_si256((const __m256i *)(text + 32)), newline);
    return (uint64_t)(uint32_t)_mm256_movemask_epi8(two) << 32 | (uint32_t)_mm256_movemask_epi8(one);
}
#endif

/* Return the number of the lowest bit; of 0, any. */
static inline size_t lowest_bit(uint64_t bits) {
    return (size_t)__builtin_ctzll(bits | (uint64_t)1 << 63);
}

static inline uint64_t load_little(const uint8_t *text) {
    uint64_t word;
    memcpy(&word, text, 8);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    word = __builtin_bswap64(word);
#endif
    return word;
}

/* Replace bytes from 0x30 to 0x3f by 0x30, as _without_digits does. */
static inline uint64_t without_digits(uint64_t word) {
    uint64_t other = ((word ^ 0x3030303030303030u) >> 4) & 0x0F0F0F0F0F0F0F0Fu;
    other = (other + 0x0F0F0F0F0F0F0F0Fu) & 0x1010101010101010u;
    return ((other - (other >> 4)) | 0xF0F0F0F0F0F0F0F0u) & word;
}

static inline uint64_t mix(uint64_t word) {
    word *= 0x9E3779B97F4A7C15u;
    return word ^ word >> 32;
}

/* A block, and what is known of beginnings. */
typedef struct {
    const uint8_t *data;
    size_t size, skip;
    uint64_t start;
    uint64_t *counts, *first;
    size_t places;
} Block;

/* Count the lines of a block. Compiled for each way to find newlines. */
static inline __attribute__((always_inline)) Py_ssize_t count_lines(
    const Block *block, Py_ssize_t most, uint64_t (*find)(const uint8_t *)) {
    const uint8_t *data = block->data;
    size_t size = block->size, skip = block->skip;
    uint64_t *counts = block->counts, *first = block->first;
    Py_ssize_t lines = 0;
    /* A line that begins here or behind has too few bytes left in this block. */
    size_t whole = size > HASHED + skip ? size - HASHED - skip : 0;
    size_t starts[STARTS + STRETCH];
    for (size_t at = 0; at + 1 < whole && lines < most;) {
        size_t some = 0;
        for (; at + 1 < whole && some < STARTS; at += STRETCH) {
            uint8_t rest[STRETCH];
            const uint8_t *text = data + at;
            if (size - at < STRETCH)
                text = memcpy(memset(rest, 0, STRETCH), text, size - at);
            uint64_t newlines = find(text);
            if (whole - 1 - at < STRETCH)
                newlines &= ((uint64_t)1 << (whole - 1 - at)) - 1;
            /* Two are noted even if there are fewer, so that the processor need not guess how many there are. */
            for (int i = 0; i < 2; i++, newlines &= newlines - 1) {
                starts[some] = at + lowest_bit(newlines) + 1;
                some += newlines != 0;
            }
            for (; newlines; newlines &= newlines - 1)
                starts[some++] = at + lowest_bit(newlines) + 1;
        }
        if ((Py_ssize_t)some > most - lines)
            some = (size_t)(most - lines);
        for (size_t i = 0; i < some; i++) {
            const uint8_t *told = data + starts[i] + skip;
            uint64_t hash = mix(without_digits(load_little(told))) ^ without_digits(load_little(told + 8));
            size_t place = mix(hash) & (block->places - 1);
            if (!counts[place]++)
                first[place] = block->start + starts[i];
        }
        lines += (Py_ssize_t)some;
    }
    return lines;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2,bmi,bmi2"))) static Py_ssize_t count_by_avx2(const Block *block, Py_ssize_t most) {
    return count_lines(block, most, find_newlines_by_avx2);
}
#endif

static Py_ssize_t count_quickly(const Block *block, Py_ssize_t most) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2"))
        return count_by_avx2(block, most);
#endif
    return count_lines(block, most, find_newlines);
}

/* add_beginnings(data, start, skip, most, counts, first) -> how many lines were counted

   data       bytes of a block that stands at `start` of the output
   skip       how wide the clock of every line is
   most       how many lines are counted at most
   counts     int64[a power of two], added to
   first      int64[as many]: where the first line of each place begins */
PyObject *add_beginnings(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("add_beginnings", count, 6))
        return NULL;
    long long start = PyLong_AsLongLong(args[1]);
    if (start == -1 && PyErr_Occurred())
        return NULL;
    Py_ssize_t skip = PyLong_AsSsize_t(args[2]);
    if (skip == -1 && PyErr_Occurred())
        return NULL;
    Py_ssize_t most = PyLong_AsSsize_t(args[3]);
    if (most == -1 && PyErr_Occurred())
        return NULL;
    PyObject *const objects[] = {args[0], args[4], args[5]};
    Array arrays[3];
    if (take_arrays(objects, arrays, "bII") < 0)
        return NULL;
    size_t size = (size_t)arrays[0].count, places = (size_t)arrays[1].count;
    Py_ssize_t lines = 0;
    if (skip < 0 || !places || places & (places - 1) || arrays[2].count != arrays[1].count) {
        PyErr_SetString(PyExc_ValueError, "skip must be 0 or more, and places as many in both arrays, a power of two");
        release(arrays, 3);
        return NULL;
    }
    Block block = {arrays[0].at, size, (size_t)skip, (uint64_t)start, arrays[1].at, arrays[2].at, places};
    Py_BEGIN_ALLOW_THREADS;
    lines = count_quickly(&block, most);
    Py_END_ALLOW_THREADS;
    release(arrays, 3);
    return PyLong_FromSsize_t(lines);
}
