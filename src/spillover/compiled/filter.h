/* Where a word may begin: a filter over many bytes at once, by the first bytes of all words (words.c).

   Words are in eight groups. For each of the first six bytes there is a table that gives, as bits, the groups with a word
   that has this byte there. A word of a group may begin where all six tables have its bit. */
#ifndef SPILLOVER_FILTER_H
#define SPILLOVER_FILTER_H

#include "loops.h"

#define FIRST 6
/* So many bytes are looked at together; in all, FIRST - 1 more are read. */
#define STRETCH 64

/* For each of the first bytes: groups by the lower seven bits of the byte; or by its lower half, then by its upper half. */
typedef struct {
    uint8_t groups[FIRST][128];
} Filter;

/* Return the first stretch from `at` on, before `end`, where any word may begin, and its bytes that pass as bits. */
typedef size_t Next(const Filter *filter, const uint8_t *text, size_t at, size_t end, uint64_t *passed);

/* A way to do it: how tables are made, and used. */
typedef struct {
    int halves;
    Next *next;
} Way;

static inline void let_pass(Filter *filter, const Way *way, int place, uint8_t byte, uint8_t group) {
    uint8_t *groups = filter->groups[place];
    if (way->halves) {
        groups[byte & 15] |= group;
        groups[16 + (byte >> 4)] |= group;
    } else {
        groups[byte & 127] |= group;
    }
}

static inline void let_all_pass(Filter *filter, int place, uint8_t group) {
    for (int i = 0; i < 128; i++)
        filter->groups[place][i] |= group;
}

static inline void let_none_pass(Filter *filter, uint8_t group) {
    uint8_t *groups = filter->groups[0];
    for (size_t i = 0; i < sizeof filter->groups; i++)
        groups[i] &= (uint8_t)~group;
}

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>

__attribute__((target("avx512f,avx512bw,avx512vbmi"))) static size_t next_by_avx512(
    const Filter *filter, const uint8_t *text, size_t at, size_t end, uint64_t *passed) {
    __m512i low[FIRST], high[FIRST];
    for (int i = 0; i < FIRST; i++) {
        low[i] = _mm512_loadu_si512(filter->groups[i]);
        high[i] = _mm512_loadu_si512(filter->groups[i] + 64);
    }
    for (; at < end; at += STRETCH) {
        __m512i groups = _mm512_permutex2var_epi8(low[0], _mm512_loadu_si512(text + at), high[0]);
        for (int i = 1; i < FIRST; i++) {
            __m512i bytes = _mm512_loadu_si512(text + at + i);
            groups = _mm512_and_si512(groups, _mm512_permutex2var_epi8(low[i], bytes, high[i]));
        }
        *passed = _mm512_test_epi8_mask(groups, groups);
        if (*passed)
            return at;
    }
    return end;
}

__attribute__((target("avx2"))) static inline __m256i groups_by_avx2(const __m256i *low, const __m256i *high, const uint8_t *text) {
    const __m256i half = _mm256_set1_epi8(15);
    __m256i groups = _mm256_set1_epi8(-1);
    for (int i = 0; i < FIRST; i++) {
        __m256i bytes = _mm256_loadu_si256((const __m256i *)(text + i));
        groups = _mm256_and_si256(groups, _mm256_shuffle_epi8(low[i], _mm256_and_si256(bytes, half)));
        bytes = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
        groups = _mm256_and_si256(groups, _mm256_shuffle_epi8(high[i], bytes));
    }
    return groups;
}

__attribute__((target("avx2"))) static size_t next_by_avx2(
    const Filter *filter, const uint8_t *text, size_t at, size_t end, uint64_t *passed) {
    __m256i low[FIRST], high[FIRST];
    for (int i = 0; i < FIRST; i++) {
        low[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)filter->groups[i]));
        high[i] = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(filter->groups[i] + 16)));
    }
    const __m256i none = _mm256_setzero_si256();
    for (; at < end; at += STRETCH) {
        __m256i one = groups_by_avx2(low, high, text + at), two = groups_by_avx2(low, high, text + at + 32);
        __m256i any = _mm256_or_si256(one, two);
        if (_mm256_testz_si256(any, any))
            continue;
        uint32_t not_one = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(one, none));
        uint32_t not_two = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(two, none));
        *passed = ~((uint64_t)not_two << 32 | not_one);
        return at;
    }
    return end;
}

#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>

static size_t next_by_neon(const Filter *filter, const uint8_t *text, size_t at, size_t end, uint64_t *passed) {
    static const uint8_t powers[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    const uint8x16_t bit = vld1q_u8(powers), half = vdupq_n_u8(15);
    uint8x16_t low[FIRST], high[FIRST];
    for (int i = 0; i < FIRST; i++) {
        low[i] = vld1q_u8(filter->groups[i]);
        high[i] = vld1q_u8(filter->groups[i] + 16);
    }
    for (; at < end; at += STRETCH) {
        uint8x16_t groups[4];
        for (int part = 0; part < 4; part++) {
            groups[part] = vdupq_n_u8(255);
            for (int i = 0; i < FIRST; i++) {
                uint8x16_t bytes = vld1q_u8(text + at + 16 * part + i);
                uint8x16_t both = vandq_u8(vqtbl1q_u8(low[i], vandq_u8(bytes, half)), vqtbl1q_u8(high[i], vshrq_n_u8(bytes, 4)));
                groups[part] = vandq_u8(groups[part], both);
            }
        }
        if (!vmaxvq_u8(vorrq_u8(vorrq_u8(groups[0], groups[1]), vorrq_u8(groups[2], groups[3]))))
            continue;
        for (int part = 0; part < 4; part++)
            groups[part] = vandq_u8(vtstq_u8(groups[part], groups[part]), bit);
        uint8x16_t sum = vpaddq_u8(vpaddq_u8(groups[0], groups[1]), vpaddq_u8(groups[2], groups[3]));
        *passed = vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(sum, sum)), 0);
        return at;
    }
    return end;
}
#endif

/* Find the best way that this processor has, or the next ones if some are left out. Returns 0 if there is none. */
static inline int find_way(Way *way, Py_ssize_t left_out) {
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512bw") && left_out-- <= 0) {
        *way = (Way){.halves = 0, .next = next_by_avx512};
        return 1;
    }
    if (__builtin_cpu_supports("avx2") && left_out-- <= 0) {
        *way = (Way){.halves = 1, .next = next_by_avx2};
        return 1;
    }
#elif defined(__aarch64__) && defined(__ARM_NEON)
    if (left_out-- <= 0) {
        *way = (Way){.halves = 1, .next = next_by_neon};
        return 1;
    }
#endif
    (void)way;
    (void)left_out;
    return 0;
}

#endif
