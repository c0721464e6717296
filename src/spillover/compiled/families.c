/* Lines without what tells them from lines that are alike: the twin of templates in select/families.py. */
#include "loops.h"

/* strip_names(view, names, telling): return the same with a byte of 1 for each name that tells lines apart, and without blanks.

   view       bytes
   names      bytes[256]: 1 for bytes that names are written with
   telling    bytes[256]: 1 for bytes that make a name a telling one */
PyObject *strip_names(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("strip_names", count, 3))
        return NULL;
    Array arrays[3];
    if (take_arrays(args, arrays, "bbb") < 0)
        return NULL;
    PyObject *result = NULL;
    const uint8_t *view = arrays[0].at, *names = arrays[1].at, *telling = arrays[2].at;
    Py_ssize_t size = arrays[0].count, at = 0;
    uint8_t *out = PyMem_Malloc((size_t)(size ? size : 1)), *end = out;
    if (arrays[1].count != 256 || arrays[2].count != 256) {
        PyErr_SetString(PyExc_ValueError, "there must be a place for each byte");
        goto done;
    }
    if (!out) {
        PyErr_NoMemory();
        goto done;
    }
    while (at < size) {
        uint8_t byte = view[at];
        if (!names[byte]) {
            if (byte != ' ')
                *end++ = byte;
            at++;
            continue;
        }
        uint8_t *begin = end, before = at ? view[at - 1] : 0;
        int left_out = before == '\'' || before == '`' || before == 0x98;
        for (; at < size && names[byte = view[at]]; at++) {
            left_out |= telling[byte] || (at && byte == view[at - 1] && (byte == ':' || byte == '.'));
            if (byte != ' ')
                *end++ = byte;
        }
        if (left_out) {
            end = begin;
            *end++ = 1;
        }
    }
    result = PyBytes_FromStringAndSize((const char *)out, end - out);
done:
    PyMem_Free(out);
    release(arrays, 3);
    return result;
}
