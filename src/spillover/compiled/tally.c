/* Newlines and characters of UTF-8 in one pass: the twin of what Meter.tally in intake/meter.py counts by stringzilla. */
#include "loops.h"

/* Count in bytes for so many rounds, which cannot overflow, and vectors of any width add them up. */
#define ROUNDS 255
#define WIDTH 64

static inline __attribute__((always_inline)) void count_bytes(const uint8_t *data, size_t size, size_t *newlines, size_t *chars) {
    size_t at = 0, ends = 0, starts = 0;
    while (size - at >= WIDTH) {
        uint8_t some_ends[WIDTH] = {0}, some_starts[WIDTH] = {0};
        for (int round = 0; round < ROUNDS && size - at >= WIDTH; round++, at += WIDTH) {
            for (int i = 0; i < WIDTH; i++) {
                some_ends[i] += data[at + i] == '\n';
                some_starts[i] += (int8_t)data[at + i] > -65; /* all but the second to fourth byte of a character */
            }
        }
        for (int i = 0; i < WIDTH; i++) {
            ends += some_ends[i];
            starts += some_starts[i];
        }
    }
    for (; at < size; at++) {
        ends += data[at] == '\n';
        starts += (int8_t)data[at] > -65;
    }
    *newlines = ends;
    *chars = starts;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void count_by_avx2(const uint8_t *data, size_t size, size_t *newlines, size_t *chars) {
    count_bytes(data, size, newlines, chars);
}
#endif

/* tally(data) -> newlines, characters */
PyObject *tally(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("tally", count, 1))
        return NULL;
    Array data;
    if (take_array(args[0], &data, 1, 0) < 0)
        return NULL;
    size_t newlines, chars;
    Py_BEGIN_ALLOW_THREADS;
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        count_by_avx2(data.at, (size_t)data.count, &newlines, &chars);
    else
#endif
        count_bytes(data.at, (size_t)data.count, &newlines, &chars);
    Py_END_ALLOW_THREADS;
    PyBuffer_Release(&data.buffer);
    return Py_BuildValue("nn", (Py_ssize_t)newlines, (Py_ssize_t)chars);
}
