/* Which classes each line is in, marked while Hyperscan reports matches: the twin of the callback in select/classes.py.

   Hyperscan calls a Python object for each match. One that is written in C, and takes its arguments as they come, costs half
   of what a function of Python does. */
#include "loops.h"

#define NAME "spillover.matches"

typedef struct {
    Array starts, table;
    Py_ssize_t classes, lines, line; /* the line of the match before: most are in it or in the next one */
    uint64_t checked, pace, seen, most;
} Matches;

/* Return the last line that begins at or before a place; -1 where none does. */
static Py_ssize_t find_line(Matches *matches, uint64_t at) {
    const int64_t *starts = matches->starts.at;
    Py_ssize_t line = matches->line, lines = matches->lines;
    for (int tries = 0; tries < 4; tries++, line++) {
        if (line >= lines || (uint64_t)starts[line] > at)
            break;
        if (line + 1 == lines || (uint64_t)starts[line + 1] > at)
            return matches->line = line;
    }
    Py_ssize_t low = 0, high = lines; /* how many begin at or before it */
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if ((uint64_t)starts[middle] <= at)
            low = middle + 1;
        else
            high = middle;
    }
    if (low)
        matches->line = low - 1;
    return low - 1;
}

/* found(number, start, end, flags, context): note a match; True stops the scan. */
static PyObject *found(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    if (!has_arguments("found", count, 5))
        return NULL;
    Matches *matches = PyCapsule_GetPointer(self, NAME);
    if (!matches)
        return NULL;
    Py_ssize_t class = PyLong_AsSsize_t(args[0]);
    if (class == -1 && PyErr_Occurred())
        return NULL;
    uint64_t end = PyLong_AsUnsignedLongLong(args[2]);
    if (end == (uint64_t)-1 && PyErr_Occurred())
        return NULL;
    if (class < 0 || class >= matches->classes || !matches->lines) {
        PyErr_SetString(PyExc_IndexError, "unknown class, or no lines");
        return NULL;
    }
    /* An end is behind the last byte; an empty match at a line's end belongs to that line. */
    Py_ssize_t line = find_line(matches, end ? end - 1 : 0);
    if (line < 0)
        line = matches->lines - 1; /* as an index of -1 does */
    ((uint8_t *)matches->table.at)[class * matches->lines + line] = 1;
    matches->seen++;
    if (end > matches->checked) {
        matches->checked = end + matches->pace;
        if (matches->seen > matches->most)
            return Py_NewRef(Py_True);
    }
    return Py_NewRef(Py_None);
}

static PyMethodDef definition = {"found", (PyCFunction)(void (*)(void))found, METH_FASTCALL, "Note a match."};

static void forget(PyObject *capsule) {
    Matches *matches = PyCapsule_GetPointer(capsule, NAME);
    if (!matches)
        return;
    PyBuffer_Release(&matches->starts.buffer);
    PyBuffer_Release(&matches->table.buffer);
    PyMem_Free(matches);
}

/* mark_matches(starts, table, most, pace): return a function for Hyperscan to call.

   starts     int64[lines], in order, none below 0: where each line begins
   table      bool[classes, lines]: where a class is found, it becomes true
   most       so many matches are enough; they are counted once in `pace` bytes */
PyObject *mark_matches(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("mark_matches", count, 4))
        return NULL;
    uint64_t most = PyLong_AsUnsignedLongLong(args[2]);
    if (most == (uint64_t)-1 && PyErr_Occurred())
        return NULL;
    uint64_t pace = PyLong_AsUnsignedLongLong(args[3]);
    if (pace == (uint64_t)-1 && PyErr_Occurred())
        return NULL;
    Matches *matches = PyMem_Calloc(1, sizeof *matches);
    if (!matches)
        return PyErr_NoMemory();
    Array arrays[2];
    if (take_arrays(args, arrays, "iB") < 0) {
        PyMem_Free(matches);
        return NULL;
    }
    matches->starts = arrays[0];
    matches->table = arrays[1];
    matches->lines = matches->starts.count;
    matches->classes = matches->lines ? matches->table.count / matches->lines : 0;
    matches->most = most;
    matches->pace = pace;
    PyObject *capsule = NULL, *function = NULL;
    const int64_t *starts = matches->starts.at;
    int sorted = matches->table.count == matches->classes * matches->lines;
    for (Py_ssize_t i = 0; i < matches->lines; i++)
        sorted &= starts[i] >= (i ? starts[i - 1] : 0);
    if (!sorted)
        PyErr_SetString(PyExc_ValueError, "lines must be in order, and the table must have a place for each of them");
    else
        capsule = PyCapsule_New(matches, NAME, forget);
    if (!capsule) {
        PyBuffer_Release(&matches->starts.buffer);
        PyBuffer_Release(&matches->table.buffer);
        PyMem_Free(matches);
        return NULL;
    }
    function = PyCFunction_NewEx(&definition, capsule, NULL);
    Py_DECREF(capsule);
    return function;
}
