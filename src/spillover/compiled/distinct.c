/* Lines that say the same but for digits: the twin of _split in select/lines.py. */
#include "texts.h"

static int is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

/* Copy a line with every digit a one, but for a zero that a number begins with. */
static void even_digits(const uint8_t *restrict line, uint8_t *restrict out, size_t size) {
    if (!size)
        return;
    out[0] = line[0] >= '1' && line[0] <= '9' ? '1' : line[0];
    for (size_t i = 1; i < size; i++) {
        uint8_t byte = line[i], digit = (uint8_t)(byte - '0') < 10, inside = (uint8_t)(line[i - 1] - '0') < 10;
        out[i] = (digit & (inside | (byte != '0'))) ? '1' : byte;
    }
}

/* Whether a text has digits where the form has a 0, and otherwise the bytes of the form; a line ends with a newline, so nothing
   is read behind it. */
static int has_form(const uint8_t *at, const char *form) {
    for (; *form; form++, at++) {
        if (*form == '0' ? !is_digit(*at) : *at != (uint8_t)*form)
            return 0;
    }
    return 1;
}

static const uint8_t *skip_blanks(const uint8_t *at) {
    while (*at == ' ' || *at == '\t')
        at++;
    return at;
}

static const uint8_t *skip_fraction(const uint8_t *at) {
    if ((*at == '.' || *at == ',') && is_digit(at[1])) {
        at += 2;
        while (is_digit(*at))
            at++;
    }
    return at;
}

/* Return the end of a clock, which may have a date before it, or where it would begin. */
static const uint8_t *skip_clock(const uint8_t *begin) {
    const uint8_t *at = begin + (*begin == '[');
    if (has_form(at, "0000") && (at[4] == '-' || at[4] == '/') && has_form(at + 5, "00") &&
        (at[7] == '-' || at[7] == '/') && has_form(at + 8, "00") && (at[10] == 'T' || at[10] == ' ') &&
        has_form(at + 11, "00:00:00")) {
        at = skip_fraction(at + 19);
        if (*at == 'Z')
            at++;
        else if ((*at == '+' || *at == '-') && (has_form(at + 1, "0000") || has_form(at + 1, "00:00")))
            at += at[3] == ':' ? 6 : 5;
    } else if (has_form(at, "00:00:00")) {
        at = skip_fraction(at + 8);
    } else {
        return begin;
    }
    return at + (*at == ']');
}

/* Return the message of a line: what is behind clock and level, as the pattern _STAMP has them. */
static const uint8_t *skip_stamp(const uint8_t *at) {
    static const char *const levels[] = {"INFO", "DEBUG", "TRACE", "info", "debug"};
    at = skip_blanks(skip_clock(skip_blanks(at)));
    const uint8_t *level = at + (*at == '[');
    for (int i = 0; i < 5; i++) {
        if (!has_form(level, levels[i]))
            continue;
        level += strlen(levels[i]);
        level = skip_blanks(level + (*level == ']'));
        return skip_blanks(level + (*level == '-' || *level == ':' || *level == '|'));
    }
    return at;
}

typedef struct {
    const uint8_t *view;
    Py_ssize_t size, lines;
    int stamped;
    uint64_t key[2];
    intptr_t *row_of, *which; /* by line */
    int64_t *exact;
    uint8_t *even; /* distinct rows, with digits made equal and a newline behind each */
    size_t used; /* so many bytes of it */
    uint32_t *message_of; /* by row */
    uint32_t *members; /* by message: how many lines it is in */
    Texts rows, messages, told;
    Memory memory;
} Split;

/* Returns what is wrong, if something is. */
static const char *split(Split *s) {
    static const char *const no_memory = "there is not enough memory to work in";
    static const char *const other_lines = "there must be a place for each line";
    const uint8_t *at = s->view, *end = s->view + s->size;
    size_t lines = (size_t)s->lines, unsure = 0;
    s->even = take_memory(&s->memory, (size_t)s->size);
    if (!s->even || make_texts(&s->rows, lines, &s->memory) < 0)
        return no_memory;
    Py_ssize_t line = 0;
    for (; at < end; line++) {
        const uint8_t *stop = memchr(at, '\n', (size_t)(end - at));
        if (!stop || line == s->lines)
            return other_lines;
        size_t size = (size_t)(stop - at), known = s->rows.count;
        uint8_t *row = s->even + s->used;
        even_digits(at, row, size);
        s->row_of[line] = (intptr_t)number_text(&s->rows, row, size, s->key);
        if (s->rows.count > known) { /* a new one; another is written over */
            row[size] = '\n';
            s->used += size + 1;
        }
        at = stop + 1;
    }
    if (line != s->lines)
        return other_lines;
    s->message_of = take_memory(&s->memory, s->rows.count * sizeof(uint32_t));
    s->members = take_memory(&s->memory, s->rows.count * sizeof(uint32_t));
    if (!s->message_of || !s->members || make_texts(&s->messages, s->rows.count, &s->memory) < 0)
        return no_memory;
    memset(s->members, 0, s->rows.count * sizeof(uint32_t));
    for (size_t row = 0; row < s->rows.count; row++) {
        const Text *text = &s->rows.texts[row];
        const uint8_t *message = s->stamped ? skip_stamp(text->at) : text->at;
        size_t size = text->size - (size_t)(message - text->at);
        s->message_of[row] = (uint32_t)number_text(&s->messages, message, size, s->key);
    }
    for (line = 0; line < s->lines; line++) {
        s->which[line] = (intptr_t)s->message_of[s->row_of[line]];
        s->members[s->which[line]]++;
    }
    /* Messages without digits that are alike are equal. Of others, only those that several lines have are compared. */
    for (size_t message = 0; message < s->messages.count; message++) {
        const Text *text = &s->messages.texts[message];
        if (s->members[message] > 1 && !memchr(text->at, '1', text->size) && !memchr(text->at, '0', text->size))
            s->members[message] = 1;
        unsure += s->members[message] > 1 ? s->members[message] : 0;
    }
    if (make_texts(&s->told, unsure, &s->memory) < 0)
        return no_memory;
    at = s->view;
    for (line = 0; line < s->lines; line++) {
        const Text *row = &s->rows.texts[s->row_of[line]], *message = &s->messages.texts[s->which[line]];
        s->exact[line] = -1 - s->which[line];
        if (s->members[s->which[line]] > 1) {
            size_t told = number_text(&s->told, at + row->size - message->size, message->size, s->key);
            s->exact[line] = -1 - (int64_t)(s->messages.count + told);
        }
        at += row->size + 1;
    }
    return NULL;
}

/* Return all messages with a barrier between them and a newline behind the last. */
static PyObject *join(const Texts *texts, const Array *barrier, intptr_t *starts, intptr_t *ends) {
    size_t between = (size_t)barrier->count, total = (texts->count - 1) * between + 1;
    for (size_t i = 0; i < texts->count; i++)
        total += texts->texts[i].size;
    PyObject *out = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)total);
    char *begin = out ? PyBytes_AsString(out) : NULL, *at = begin;
    if (!begin)
        return NULL;
    for (size_t i = 0; i < texts->count; i++) {
        if (i) {
            memcpy(at, barrier->at, between);
            at += between;
        }
        starts[i] = at - begin;
        memcpy(at, texts->texts[i].at, texts->texts[i].size);
        at += texts->texts[i].size;
        ends[i] = at - begin;
    }
    *at = '\n';
    return out;
}

/* split_lines(view, stamped, barrier, row_of, which, exact, starts, ends, memory): return (rows, messages, their number).

   view       bytes that end with a newline, with as many lines as the arrays have places
   stamped    whether messages are behind a clock and a level
   barrier    bytes, which stand between messages
   row_of     intp[lines], written: which of the distinct rows each line is
   which      intp[lines], written: which of the distinct messages each line has
   exact      int64[lines], written: the same for equal messages, below 0
   starts     intp[lines], written: where each distinct message begins in `messages`
   ends       intp[lines], written: and where it ends
   memory     uint8[any], to work in: the size of the view, 128 for each line and 512 are enough */
PyObject *split_lines(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("split_lines", count, 9))
        return NULL;
    int stamped = PyObject_IsTrue(args[1]);
    if (stamped < 0)
        return NULL;
    PyObject *const objects[] = {args[0], args[2], args[3], args[4], args[5], args[6], args[7], args[8]};
    Array arrays[8];
    if (take_arrays(objects, arrays, "bbIIIIIB") < 0)
        return NULL;
    Split s = {.view = arrays[0].at, .size = arrays[0].count, .lines = arrays[2].count, .stamped = stamped};
    s.row_of = arrays[2].at;
    s.which = arrays[3].at;
    s.exact = arrays[4].at;
    s.memory = (Memory){arrays[7].at, (uint8_t *)arrays[7].at + arrays[7].count};
    PyObject *result = NULL;
    const char *wrong = NULL;
    for (int i = 3; i < 7; i++)
        if (arrays[i].count != s.lines)
            wrong = "there must be a place for each line";
    if (!s.lines || s.lines > INT32_MAX || s.size < s.lines || s.view[s.size - 1] != '\n')
        wrong = "a view must end with a newline";
    if (!wrong) {
        if (hash_key(s.key) < 0)
            goto done;
        Py_BEGIN_ALLOW_THREADS;
        wrong = split(&s);
        Py_END_ALLOW_THREADS;
    }
    if (wrong) {
        PyErr_SetString(PyExc_ValueError, wrong);
        goto done;
    }
    PyObject *rows = PyBytes_FromStringAndSize((const char *)s.even, (Py_ssize_t)s.used);
    PyObject *text = join(&s.messages, &arrays[1], arrays[5].at, arrays[6].at);
    if (rows && text)
        result = Py_BuildValue("OOn", rows, text, (Py_ssize_t)s.messages.count);
    Py_XDECREF(rows);
    Py_XDECREF(text);
done:
    release(arrays, 8);
    return result;
}
