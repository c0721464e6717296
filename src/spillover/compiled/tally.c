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

static void count_by_any(const uint8_t *data, size_t size, size_t *newlines, size_t *chars) {
    count_bytes(data, size, newlines, chars);
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("avx2"))) static void count_by_avx2(const uint8_t *data, size_t size, size_t *newlines, size_t *chars) {
    count_bytes(data, size, newlines, chars);
}
#endif

/* tally(data, block) -> (newlines of each block of so many bytes, characters in all) */
PyObject *tally(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("tally", count, 2))
        return NULL;
    Py_ssize_t block = PyLong_AsSsize_t(args[1]);
    if (block == -1 && PyErr_Occurred())
        return NULL;
    Array data;
    if (take_array(args[0], &data, 'b') < 0)
        return NULL;
    PyObject *result = NULL, *list = NULL;
    size_t *newlines = NULL, all = 0;
    if (block <= 0) {
        PyErr_SetString(PyExc_ValueError, "a block must have a byte at least");
        goto done;
    }
    Py_ssize_t blocks = data.count / block + (data.count % block != 0);
    newlines = PyMem_Malloc((size_t)(blocks ? blocks : 1) * sizeof(size_t));
    if (!newlines) {
        PyErr_NoMemory();
        goto done;
    }
    Py_BEGIN_ALLOW_THREADS;
    void (*count_all)(const uint8_t *, size_t, size_t *, size_t *) = count_by_any;
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2"))
        count_all = count_by_avx2;
#endif
    for (Py_ssize_t i = 0; i < blocks; i++) {
        Py_ssize_t left = data.count - i * block;
        size_t chars;
        count_all((const uint8_t *)data.at + i * block, (size_t)(left < block ? left : block), &newlines[i], &chars);
        all += chars;
    }
    Py_END_ALLOW_THREADS;
    list = PyList_New(blocks);
    for (Py_ssize_t i = 0; list && i < blocks; i++) {
        PyObject *number = PyLong_FromSize_t(newlines[i]);
        if (!number || PyList_SetItem(list, i, number) < 0)
            Py_CLEAR(list);
    }
    if (list)
        result = Py_BuildValue("On", list, (Py_ssize_t)all);
    Py_XDECREF(list);
done:
    PyMem_Free(newlines);
    PyBuffer_Release(&data.buffer);
    return result;
}
