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

/* Take an array of items of this many bytes. Returns -1, with an error set, if it is none. Release it with `release`. */
static inline int take_array(PyObject *object, Array *array, Py_ssize_t item, int writable) {
    int flags = writable ? PyBUF_CONTIG : PyBUF_CONTIG_RO;
    if (PyObject_GetBuffer(object, &array->buffer, flags) < 0)
        return -1;
    if (array->buffer.itemsize != item) {
        PyErr_Format(PyExc_TypeError, "an array with items of %zd bytes is needed, not %zd", item, array->buffer.itemsize);
        PyBuffer_Release(&array->buffer);
        return -1;
    }
    array->at = array->buffer.buf;
    array->count = array->buffer.len / item;
    return 0;
}

static inline void release(Array *arrays, int count) {
    for (int i = 0; i < count; i++)
        PyBuffer_Release(&arrays[i].buffer);
}

/* Take several arrays: `items` has the size of an item of each, below 0 where the array is written to. */
static inline int take_arrays(PyObject *const *objects, Array *arrays, const int *items, int count) {
    for (int i = 0; i < count; i++) {
        int item = items[i] < 0 ? -items[i] : items[i];
        if (take_array(objects[i], &arrays[i], item, items[i] < 0) < 0) {
            release(arrays, i);
            return -1;
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
