/* What features of lines are made of: how often values recur, and what stands around a line: the twins of count_alike in
   select/arrays.py, and of _means, _shares, _stretches and parents in select/features.py. */
#include "texts.h"

/* Values that are alike, by a table of places: each has the line that came first with its value, or -1. Its hash has a
   key that nobody outside of the process knows, as a text may choose some of the values. */
typedef struct {
    Py_ssize_t *first;
    size_t mask;
} Places;

static uint64_t read_value(const Array *values, Py_ssize_t line) {
    switch (values->buffer.itemsize) {
    case 8:
        return ((const uint64_t *)values->at)[line];
    case 4:
        return ((const uint32_t *)values->at)[line];
    default:
        return ((const uint16_t *)values->at)[line];
    }
}

/* count_alike(values, counts, index): how often each value occurs, and how often it did before. Values are whole numbers of 2,
   4 or 8 bytes, counts and index int64. */
PyObject *count_alike(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("count_alike", count, 3))
        return NULL;
    Array arrays[3];
    Array *values = &arrays[0];
    if (take_arrays(args, arrays, "nII") < 0)
        return NULL;
    PyObject *result = NULL;
    Py_ssize_t lines = values->count;
    Places places = {NULL, 1};
    uint64_t key[2];
    if (hash_key(key) < 0)
        goto done;
    if (arrays[1].count != lines || arrays[2].count != lines) {
        PyErr_SetString(PyExc_ValueError, "values, counts and index must be of the same lines");
        goto done;
    }
    while (places.mask < 2 * (size_t)lines)
        places.mask *= 2;
    places.first = PyMem_Malloc(places.mask * sizeof(Py_ssize_t));
    if (!places.first) {
        PyErr_NoMemory();
        goto done;
    }
    memset(places.first, 0xFF, places.mask * sizeof(Py_ssize_t));
    places.mask--;
    int64_t *counts = arrays[1].at, *index = arrays[2].at;
    /* In a first pass, `counts` has how many there are by now at the first line of each value, and elsewhere -1 - that line. */
    for (Py_ssize_t line = 0; line < lines; line++) {
        uint64_t value = read_value(values, line), mixed = (value ^ key[0]) * (key[1] | 1);
        mixed = (mixed ^ mixed >> 32) * 0x9E3779B97F4A7C15u;
        size_t place = (size_t)(mixed ^ mixed >> 32) & places.mask;
        while (places.first[place] >= 0 && read_value(values, places.first[place]) != value)
            place = (place + 1) & places.mask;
        Py_ssize_t first = places.first[place];
        if (first < 0) {
            places.first[place] = line;
            counts[line] = 1;
            index[line] = 0;
        } else {
            index[line] = counts[first]++;
            counts[line] = -1 - first;
        }
    }
    for (Py_ssize_t line = 0; line < lines; line++)
        if (counts[line] < 0)
            counts[line] = counts[-1 - counts[line]];
    result = Py_NewRef(Py_None);
done:
    PyMem_Free(places.first);
    release(arrays, 3);
    return result;
}

/* mean_around(points, reach, out): the mean over `reach` lines on either side of each. */
PyObject *mean_around(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("mean_around", count, 3))
        return NULL;
    Py_ssize_t reach = PyLong_AsSsize_t(args[1]);
    if (PyErr_Occurred())
        return NULL;
    PyObject *const objects[] = {args[0], args[2]};
    Array arrays[2];
    if (take_arrays(objects, arrays, "dD") < 0)
        return NULL;
    PyObject *result = NULL;
    Py_ssize_t lines = arrays[0].count;
    double *upto = NULL;
    if (arrays[1].count != lines || reach < 0) {
        PyErr_SetString(PyExc_ValueError, "points and out must be of the same lines, and reach not below 0");
        goto done;
    }
    upto = PyMem_Malloc((size_t)(lines + 1) * 8);
    if (!upto) {
        PyErr_NoMemory();
        goto done;
    }
    const double *points = arrays[0].at;
    double *out = arrays[1].at;
    upto[0] = 0.0;
    for (Py_ssize_t i = 0; i < lines; i++)
        upto[i + 1] = i ? upto[i] + points[i] : points[i];
    for (Py_ssize_t i = 0; i < lines; i++) {
        Py_ssize_t low = i > reach ? i - reach : 0, high = reach < lines - i - 1 ? i + reach + 1 : lines;
        out[i] = (upto[high] - upto[low]) / (double)(high - low);
    }
    result = Py_NewRef(Py_None);
done:
    PyMem_Free(upto);
    release(arrays, 2);
    return result;
}

/* share_around(those, reach, out): the share of those lines among `reach` on either side of each, itself included. */
PyObject *share_around(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("share_around", count, 3))
        return NULL;
    Py_ssize_t reach = PyLong_AsSsize_t(args[1]);
    if (PyErr_Occurred())
        return NULL;
    PyObject *const objects[] = {args[0], args[2]};
    Array arrays[2];
    if (take_arrays(objects, arrays, "bF") < 0)
        return NULL;
    PyObject *result = NULL;
    Py_ssize_t lines = arrays[0].count;
    if (arrays[1].count != lines || reach < 0 || reach > 100) {
        PyErr_SetString(PyExc_ValueError, "those and out must be of the same lines, and reach from 0 to 100");
        goto done;
    }
    const uint8_t *those = arrays[0].at;
    float *out = arrays[1].at;
    Py_ssize_t low = 0, high = 0, sum = 0;
    for (Py_ssize_t i = 0; i < lines; i++) {
        for (; high < lines && high <= i + reach; high++)
            sum += those[high] != 0;
        for (; low + reach < i; low++)
            sum -= those[low] != 0;
        out[i] = (float)sum / (float)(high - low);
    }
    result = Py_NewRef(Py_None);
done:
    release(arrays, 2);
    return result;
}

/* stretches(points, opens, best, sizes, into): the best of each stretch of lines, its length, and how far into it each stands.
   `opens`: a boolean for each line, whether a stretch begins there. */
PyObject *stretches(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("stretches", count, 5))
        return NULL;
    Array arrays[5];
    if (take_arrays(args, arrays, "dbDII") < 0)
        return NULL;
    PyObject *result = NULL;
    Py_ssize_t lines = arrays[0].count;
    for (int i = 1; i < 5; i++) {
        if (arrays[i].count != lines) {
            PyErr_SetString(PyExc_ValueError, "points, opens, best, sizes and into must be of the same lines");
            goto done;
        }
    }
    const double *points = arrays[0].at;
    const uint8_t *opens = arrays[1].at;
    double *best = arrays[2].at;
    int64_t *sizes = arrays[3].at, *into = arrays[4].at;
    for (Py_ssize_t start = 0, end; start < lines; start = end) {
        double most = points[start];
        for (end = start + 1; end < lines && !opens[end]; end++)
            most = points[end] > most ? points[end] : most;
        for (Py_ssize_t i = start; i < end; i++) {
            best[i] = most;
            sizes[i] = end - start;
            into[i] = i - start;
        }
    }
    result = Py_NewRef(Py_None);
done:
    release(arrays, 5);
    return result;
}

/* find_parents(indent, blank, deepest, parent): the last line before each that is indented less; -1 where there is none. */
PyObject *find_parents(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("find_parents", count, 4))
        return NULL;
    Py_ssize_t deepest = PyLong_AsSsize_t(args[2]);
    if (PyErr_Occurred())
        return NULL;
    PyObject *const objects[] = {args[0], args[1], args[3]};
    Array arrays[3];
    if (take_arrays(objects, arrays, "ibI") < 0)
        return NULL;
    PyObject *result = NULL;
    Py_ssize_t lines = arrays[0].count, last[65], most = 0;
    if (arrays[1].count != lines || arrays[2].count != lines || deepest < 0 || deepest > 64) {
        PyErr_SetString(PyExc_ValueError, "indent, blank and parent must be of the same lines, and deepest from 0 to 64");
        goto done;
    }
    const int64_t *indent = arrays[0].at;
    const uint8_t *blank = arrays[1].at;
    int64_t *parent = arrays[2].at;
    memset(last, 0xFF, sizeof last); /* by depth, the last line that is indented so far, or -1 */
    for (Py_ssize_t i = 0; i < lines; i++)
        if (!blank[i] && indent[i] > most)
            most = indent[i] < deepest ? (Py_ssize_t)indent[i] : deepest;
    for (Py_ssize_t i = 0; i < lines; i++) {
        Py_ssize_t depth = indent[i] < 0 ? 0 : indent[i] < deepest ? (Py_ssize_t)indent[i] : deepest;
        Py_ssize_t found = -1;
        for (Py_ssize_t level = 0; level < depth && level < most; level++)
            found = last[level] > found ? last[level] : found;
        parent[i] = found;
        if (!blank[i])
            last[depth] = i;
    }
    result = Py_NewRef(Py_None);
done:
    release(arrays, 3);
    return result;
}
