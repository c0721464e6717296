/* Classes of distinct messages, told of each line that has one of them: the twin of _spread in select/distinct.py. */
#include "loops.h"

/* What the first or the last byte of a line is, as in select/distinct.py. */
enum { BLANK = 1, SIGN = 2, OPEN = 4, DOT = 8, CAPITAL = 16 };
#define MOST_CLASSES 64

typedef struct {
    uint64_t classes; /* one bit each */
    uint8_t head, tail, blank, trailing;
} Message;

/* Note which messages are in each class. Most are in few, so eight are looked at at a time. */
static void read_classes(const uint8_t *alone, int classes, Message *messages, Py_ssize_t count) {
    for (int class = 0; class < classes; class++, alone += count) {
        for (Py_ssize_t at = 0; at < count; at++) {
            uint64_t eight;
            if (count - at >= 8) {
                memcpy(&eight, alone + at, 8);
                if (!eight) {
                    at += 7;
                    continue;
                }
            }
            if (alone[at])
                messages[at].classes |= (uint64_t)1 << class;
        }
    }
}

/* Whether a pattern may reach from the line before into a line. */
static int is_reached(const Message *before, const Message *line) {
    return line->head & SIGN || (before->tail & OPEN && !(line->head & BLANK)) ||
           (before->tail & DOT && line->head & CAPITAL) || (line->blank && before->trailing);
}

/* spread_classes(alone, text, starts, ends, which, edges, trailing, table, reached): return whether any line is reached.

   alone      bool[classes, messages]: the classes of each message, 64 at most
   text       bytes: messages, with something behind each
   starts     intp[messages], ends intp[messages]: where they begin and end in it
   which      intp[lines]: which of them each line has
   edges      bytes[256]: what a byte at the edge of a line is
   trailing   bytes: places of the classes that may go on into a blank line
   table      bool[classes, lines], all false: the classes of each line are added
   reached    bool[lines], written: whether a pattern may reach into a line from the one before */
PyObject *spread_classes(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("spread_classes", count, 9))
        return NULL;
    Array arrays[9];
    if (take_arrays(args, arrays, "bbiiibbBB") < 0)
        return NULL;
    PyObject *result = NULL;
    const uint8_t *text = arrays[1].at, *edges = arrays[5].at;
    const intptr_t *starts = arrays[2].at, *ends = arrays[3].at, *which = arrays[4].at;
    Py_ssize_t size = arrays[1].count, count_messages = arrays[2].count, lines = arrays[4].count;
    Py_ssize_t classes = count_messages ? arrays[0].count / count_messages : 0;
    Message *messages = NULL;
    int wrong = !classes || classes > MOST_CLASSES || arrays[0].count != classes * count_messages ||
                arrays[3].count != count_messages || arrays[5].count != 256 || arrays[7].count != classes * lines ||
                arrays[8].count != lines;
    for (Py_ssize_t i = 0; !wrong && i < count_messages; i++)
        wrong = starts[i] < 0 || ends[i] < starts[i] || ends[i] >= size;
    for (Py_ssize_t i = 0; !wrong && i < lines; i++)
        wrong = which[i] < 0 || which[i] >= count_messages;
    uint64_t trailing = 0;
    for (Py_ssize_t i = 0; !wrong && i < arrays[6].count; i++) {
        uint8_t class = ((const uint8_t *)arrays[6].at)[i];
        wrong = class >= classes;
        trailing |= (uint64_t)1 << (class % MOST_CLASSES);
    }
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, "classes, messages and lines must have their places in each other");
        goto done;
    }
    messages = PyMem_Calloc((size_t)count_messages, sizeof *messages);
    if (!messages) {
        PyErr_NoMemory();
        goto done;
    }
    uint8_t *table = arrays[7].at, *reached = arrays[8].at, any = 0;
    Py_BEGIN_ALLOW_THREADS;
    read_classes(arrays[0].at, (int)classes, messages, count_messages);
    for (Py_ssize_t i = 0; i < count_messages; i++) {
        Message *message = &messages[i];
        message->head = edges[text[starts[i]]];
        message->tail = edges[text[ends[i] ? ends[i] - 1 : size - 1]]; /* of an empty one, what stands before it */
        message->blank = message->head & message->tail & BLANK;
        message->trailing = message->classes & trailing || message->blank;
    }
    for (Py_ssize_t line = 0; line < lines; line++) {
        const Message *message = &messages[which[line]];
        for (uint64_t left = message->classes; left; left &= left - 1)
            table[__builtin_ctzll(left) * lines + line] = 1;
        reached[line] = line && is_reached(&messages[which[line - 1]], message);
        any |= reached[line];
    }
    Py_END_ALLOW_THREADS;
    result = PyBool_FromLong(any);
done:
    PyMem_Free(messages);
    release(arrays, 9);
    return result;
}
