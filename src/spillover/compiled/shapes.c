/* What distinct lines look like and what they cost: the twins of shapes and costs in select/shapes.py. */
#include "loops.h"

/* As in select/shapes.py. */
#define SALT 0x9E3779B97F4A7C15u
#define MIX 0xBF58476D1CE4E5B9u
#define POWER 0x100000001B3u
#define PREFIX 12
#define LONG_WORD 6
#define DEEPEST 64
enum { WORD = 1, DIGIT = 2, SPACE = 4 };

/* shape_lines(text, starts, ends, flags, salt, template, subject, prefix, indent)

   text       bytes
   starts     intp[lines], ends intp[lines]: where lines begin and end in it
   flags      bytes[256]: what a byte is, one bit each
   salt       uint64[256]: a number for each byte
   template   uint64[lines], written: a sum over the bytes without the words that hold digits
   subject    uint64[lines], written: a sum over long words
   prefix     uint64[lines], written: a hash of the first bytes
   indent     int64[lines], written */
PyObject *shape_lines(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("shape_lines", count, 9))
        return NULL;
    Array arrays[9];
    if (take_arrays(args, arrays, "biibiIIII") < 0)
        return NULL;
    PyObject *result = NULL;
    const intptr_t *starts = arrays[1].at, *ends = arrays[2].at;
    Py_ssize_t lines = arrays[1].count;
    int wrong = arrays[2].count != lines || arrays[3].count != 256 || arrays[4].count != 256;
    for (int i = 5; i < 9; i++)
        wrong |= arrays[i].count != lines;
    for (Py_ssize_t line = 0; !wrong && line < lines; line++)
        wrong = starts[line] < 0 || ends[line] < starts[line] || ends[line] > arrays[0].count;
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, "lines must be inside of the text, and there must be a place for each of them");
        goto done;
    }
    const uint8_t *text = arrays[0].at, *flags = arrays[3].at;
    const uint64_t *salt = arrays[4].at;
    uint64_t *template = arrays[5].at, *subject = arrays[6].at, *prefix = arrays[7].at;
    int64_t *indent = arrays[8].at;
    Py_BEGIN_ALLOW_THREADS;
    for (Py_ssize_t line = 0; line < lines; line++) {
        const uint8_t *begin = text + starts[line], *end = text + ends[line], *at = begin;
        uint64_t sum = 0, names = 0, hash = 0;
        while (at < end) {
            uint8_t flag = flags[*at];
            if (!(flag & WORD)) {
                sum += salt[*at++];
                continue;
            }
            const uint8_t *word = at;
            uint64_t own = 0;
            uint8_t seen = 0;
            do {
                own += salt[*at++];
                seen |= flag;
            } while (at < end && (flag = flags[*at]) & WORD);
            if (seen & DIGIT) {
                sum += SALT; /* it counts as one, whatever it says */
            } else {
                sum += own;
                if (at - word >= LONG_WORD) {
                    uint64_t mixed = own * MIX;
                    names += mixed ^ mixed >> 31;
                }
            }
        }
        template[line] = sum;
        subject[line] = names;
        for (int i = 0; i < PREFIX; i++) {
            uint8_t byte = i < end - begin ? begin[i] : 0;
            hash = hash * POWER + (byte >= '0' && byte <= '9' ? '0' : byte) + 1u;
        }
        prefix[line] = hash;
        for (at = begin; at < end && at - begin < DEEPEST && flags[*at] == SPACE;)
            at++;
        indent[line] = at - begin;
    }
    Py_END_ALLOW_THREADS;
    result = Py_NewRef(Py_None);
done:
    release(arrays, 9);
    return result;
}

/* cost_lines(rows, row_of, left_open, asked, per_bit, per_byte, tokens)

   rows       bytes: distinct rows, with a newline behind each
   row_of     intp[lines]: which of them each line is
   left_open  bytes[256], asked bytes[256]: the bits of the estimate
   per_bit    float, per_byte float
   tokens     float64[lines], written */
PyObject *cost_lines(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("cost_lines", count, 7))
        return NULL;
    double per_bit = PyFloat_AsDouble(args[4]), per_byte = PyFloat_AsDouble(args[5]);
    if (PyErr_Occurred())
        return NULL;
    PyObject *const objects[] = {args[0], args[1], args[2], args[3], args[6]};
    Array arrays[5];
    if (take_arrays(objects, arrays, "bibbD") < 0)
        return NULL;
    PyObject *result = NULL;
    const uint8_t *text = arrays[0].at, *opens = arrays[2].at, *asks = arrays[3].at;
    const intptr_t *row_of = arrays[1].at;
    double *tokens = arrays[4].at, *costs = NULL;
    Py_ssize_t size = arrays[0].count, lines = arrays[1].count, rows = 0;
    for (Py_ssize_t i = 0; i < size; i++)
        rows += text[i] == '\n';
    int wrong = !size || text[size - 1] != '\n' || arrays[2].count != 256 || arrays[3].count != 256 || arrays[4].count != lines;
    for (Py_ssize_t line = 0; !wrong && line < lines; line++)
        wrong = row_of[line] < 0 || row_of[line] >= rows;
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, "each line must be one of the rows, and there must be a place for its cost");
        goto done;
    }
    costs = PyMem_Malloc((size_t)rows * sizeof *costs);
    if (!costs) {
        PyErr_NoMemory();
        goto done;
    }
    uint8_t bits[256];
    bits[0] = 0;
    for (int i = 1; i < 256; i++)
        bits[i] = (uint8_t)(bits[i / 2] + i % 2);
    const uint8_t *at = text;
    for (Py_ssize_t row = 0; row < rows; row++) {
        const uint8_t *begin = at;
        uint8_t before = opens['\n'], byte; /* a line is counted behind the end of another */
        int32_t sum = 0;
        do {
            byte = *at++;
            sum += bits[before & asks[byte]];
            before = opens[byte];
        } while (byte != '\n');
        double cost = per_bit * sum + per_byte * (double)(at - begin);
        costs[row] = cost > 1.0 ? cost : 1.0;
        if (lines && row == row_of[0]) { /* but for the first, which is behind none */
            cost = per_bit * (sum - bits[opens['\n'] & asks[*begin]]) + per_byte * (double)(at - begin);
            tokens[0] = cost > 1.0 ? cost : 1.0;
        }
    }
    for (Py_ssize_t line = 1; line < lines; line++)
        tokens[line] = costs[row_of[line]];
    result = Py_NewRef(Py_None);
done:
    PyMem_Free(costs);
    release(arrays, 5);
    return result;
}
