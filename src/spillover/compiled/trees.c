/* Decision trees for many lines, as select/trees.py lays them out: the twin of Forest._add.

   Leaves are bits. Each condition that does not hold rules out the leaves on its left, and the lowest bit that is left
   says which leaf a line is in. */
#include "loops.h"

/* So many lines at a time: the answers of all conditions for them stay in the processor's cache. */
#define STRETCH 256
#define LEAVES 256

/* add_trees(total, features, rules, right, values)

   total      float64[lines], added to
   features   a tuple of (column, bounds): float32[lines] or bool[lines], float32[any number]
   rules      intp[trees, places]: which condition is asked at each place of a tree
   right      uint8[trees, places]: the leaves that stay if it does not hold
   values     float64[trees, 256]: what a tree is worth, by the leaves that are left */
PyObject *add_trees(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("add_trees", count, 5))
        return NULL;
    PyObject *features = args[1];
    if (!PyTuple_Check(features)) {
        PyErr_SetString(PyExc_TypeError, "features must be a tuple");
        return NULL;
    }
    PyObject *const objects[] = {args[0], args[2], args[3], args[4]};
    Array arrays[4];
    if (take_arrays(objects, arrays, "Dibd") < 0)
        return NULL;
    Py_ssize_t lines = arrays[0].count, trees = arrays[3].count / LEAVES, asked = 0, taken = 0;
    Py_ssize_t places = trees ? arrays[1].count / trees : 0, pairs = PyTuple_Size(features);
    Array *columns = PyMem_Calloc(2 * (size_t)(pairs ? pairs : 1), sizeof(Array));
    uint8_t *holds = NULL;
    PyObject *result = NULL;
    if (!columns) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < pairs; i++) {
        PyObject *pair = PyTuple_GetItem(features, i);
        if (!pair || !PyTuple_Check(pair) || PyTuple_Size(pair) != 2) {
            PyErr_SetString(PyExc_TypeError, "a feature must be a column and its bounds");
            goto done;
        }
        Py_buffer *column = &columns[taken].buffer;
        if (PyObject_GetBuffer(PyTuple_GetItem(pair, 0), column, PyBUF_CONTIG_RO | PyBUF_FORMAT) < 0)
            goto done;
        columns[taken].at = column->buf;
        taken++;
        if (take_array(PyTuple_GetItem(pair, 1), &columns[taken], 'f') < 0)
            goto done;
        asked += columns[taken].count;
        taken++;
        if ((!is_kind(column, 'f') && !is_kind(column, 'b')) || column->len / column->itemsize != lines ||
            overlap(&columns[taken - 2], &arrays[0]) || overlap(&columns[taken - 1], &arrays[0])) {
            PyErr_SetString(PyExc_ValueError, "a column must have a float32 or a bool for each line");
            goto done;
        }
    }
    const intptr_t *rules = arrays[1].at;
    const uint8_t *right = arrays[2].at;
    if (arrays[3].count != trees * LEAVES || arrays[1].count != trees * places || arrays[2].count != arrays[1].count) {
        PyErr_SetString(PyExc_ValueError, "rules, leaves and values must be of the same trees");
        goto done;
    }
    for (Py_ssize_t i = 0; i < arrays[1].count; i++) {
        if (rules[i] < 0 || rules[i] >= asked) {
            PyErr_SetString(PyExc_ValueError, "a tree refers to an unknown condition");
            goto done;
        }
    }
    holds = PyMem_Malloc((size_t)(asked ? asked : 1) * STRETCH);
    if (!holds) {
        PyErr_NoMemory();
        goto done;
    }
    double *total = arrays[0].at;
    const double *values = arrays[3].at;
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t first = 0; first < lines; first += STRETCH) {
        int some = (int)(lines - first < STRETCH ? lines - first : STRETCH);
        uint8_t *answer = holds;
        for (Py_ssize_t pair = 0; pair < taken; pair += 2) {
            const float *bounds = columns[pair + 1].at;
            for (Py_ssize_t bound = 0; bound < columns[pair + 1].count; bound++, answer += STRETCH) {
                float most = bounds[bound];
                if (columns[pair].buffer.itemsize == 4) {
                    const float *column = (const float *)columns[pair].at + first;
                    for (int i = 0; i < some; i++)
                        answer[i] = column[i] <= most ? 0xFF : 0;
                } else {
                    const uint8_t *column = (const uint8_t *)columns[pair].at + first;
                    uint8_t no = 0.0f <= most ? 0xFF : 0, yes = 1.0f <= most ? 0xFF : 0;
                    for (int i = 0; i < some; i++)
                        answer[i] = column[i] ? yes : no;
                }
            }
        }
        uint8_t left[STRETCH];
        for (Py_ssize_t tree = 0; tree < trees; tree++) {
            memset(left, 0xFF, sizeof left);
            for (Py_ssize_t place = 0; place < places; place++) {
                const uint8_t *held = holds + rules[tree * places + place] * STRETCH;
                uint8_t stay = right[tree * places + place];
                if (stay == 0xFF)
                    continue;
                for (int i = 0; i < STRETCH; i++)
                    left[i] &= held[i] | stay;
            }
            const double *worth = values + tree * LEAVES;
            for (int i = 0; i < some; i++)
                total[first + i] += worth[left[i]];
        }
    }
    Py_END_ALLOW_THREADS;
    result = Py_NewRef(Py_None);
done:
    if (columns)
        release(columns, (int)taken);
    PyMem_Free(columns);
    PyMem_Free(holds);
    release(arrays, 4);
    return result;
}
