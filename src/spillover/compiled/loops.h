/* What all loops share: arrays taken from Python, and checked before anything is read. */
#ifndef SPILLOVER_LOOPS_H
#define SPILLOVER_LOOPS_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

/* One array: where it is, and how many items it has. */
typedef struct {
    Py_buffer buffer;
    void *at;
    Py_ssize_t count;
} Array;

/* What an array may hold: 'b' bytes or booleans, 'i' whole numbers of 8 bytes, 'n' of 2, 4 or 8, 'f' and 'd' floats of 4 and 8; in
   capitals if it is written to. No other thread may write to an array that was given to a loop: what was checked must stay. */
static inline int is_kind(const Py_buffer *buffer, char kind) {
    const char *format = buffer->format ? buffer->format : "B";
    format += *format == '@' || *format == '=' || *format == '<';
    const char *wanted = kind == 'b' ? "?bBc" : kind == 'i' ? "lqLQ" : kind == 'n' ? "hHiIlLqQ" : kind == 'f' ? "f" : "d";
    Py_ssize_t size = kind == 'b' ? 1 : kind == 'f' ? 4 : kind == 'n' ? buffer->itemsize : 8;
    return format[0] && !format[1] && strchr(wanted, format[0]) && buffer->itemsize == size &&
           (uintptr_t)buffer->buf % (size_t)size == 0;
}

/* Take an array of this kind. Returns -1, with an error set, if it is none. Release it with `release`. */
static inline int take_array(PyObject *object, Array *array, char kind) {
    int is_written = kind >= 'A' && kind <= 'Z';
    if (PyObject_GetBuffer(object, &array->buffer, (is_written ? PyBUF_CONTIG : PyBUF_CONTIG_RO) | PyBUF_FORMAT) < 0)
        return -1;
    if (!is_kind(&array->buffer, is_written ? (char)(kind + ('a' - 'A')) : kind)) {
        PyErr_Format(PyExc_TypeError, "wrong type of array (expected %c)", kind);
        PyBuffer_Release(&array->buffer);
        return -1;
    }
    array->at = array->buffer.buf;
    array->count = array->buffer.len / array->buffer.itemsize;
    return 0;
}

static inline void release(Array *arrays, int count) {
    for (int i = 0; i < count; i++)
        PyBuffer_Release(&arrays[i].buffer);
}

/* Whether two arrays share memory. */
static inline int overlap(const Array *one, const Array *other) {
    const char *a = one->buffer.buf, *b = other->buffer.buf;
    return one->buffer.len && other->buffer.len && a < b + other->buffer.len && b < a + one->buffer.len;
}

/* Take several arrays, a kind for each. What is written must not share memory with others: they were checked before. */
static inline int take_arrays(PyObject *const *objects, Array *arrays, const char *kinds) {
    int count = (int)strlen(kinds);
    for (int i = 0; i < count; i++) {
        if (take_array(objects[i], &arrays[i], kinds[i]) < 0) {
            release(arrays, i);
            return -1;
        }
        for (int j = 0; j < i; j++) {
            if ((kinds[i] < 'a' || kinds[j] < 'a') && overlap(&arrays[i], &arrays[j])) {
                PyErr_SetString(PyExc_ValueError, "an array that is written shares memory with another");
                release(arrays, i + 1);
                return -1;
            }
        }
    }
    return 0;
}

/* Whether a call has as many arguments as it should. */
static inline int has_arguments(const char *name, Py_ssize_t given, Py_ssize_t wanted) {
    if (given == wanted)
        return 1;
    PyErr_Format(PyExc_TypeError, "%s takes %zd arguments, not %zd", name, wanted, given);
    return 0;
}

/* A loop as Python calls it. */
typedef PyObject *Loop(PyObject *self, PyObject *const *args, Py_ssize_t count);

Loop add_trees, take, price, grow, count_alike, sort_down, mean_around, share_around, stretches, find_parents;
Loop mark_matches, group_values, number_values, split_lines, shape_lines, cost_lines, strip_names,
    spread_classes;
Loop tally, add_beginnings, table_of_words, mark_words;

#endif
