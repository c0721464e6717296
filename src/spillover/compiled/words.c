/* Which words each cell of a block has: the twin of Words.look in select/words.py.

   A filter (filter.h) passes the few bytes at which a word may begin, and there the words are compared: those with the same
   two first bytes, up to sixteen bytes each, so the time per byte is bounded whatever the text is. Of each cell one only wants
   to know whether it has a word. So a word that was found is taken out of the filter up to the end of the cell. */
#include "loops.h"

#include <stdlib.h>

#include "filter.h"

#define MOST_WORDS 128
#define SHORTEST 2
#define LONGEST 16
#define SLOTS 1024
#define NAME "spillover.words"

typedef struct {
    uint64_t bytes[2], mask[2];
    uint8_t text[LONGEST];
    uint8_t number, length;
    uint8_t group; /* as a bit */
} Word;

typedef struct {
    Way way;
    Filter filter; /* for all words */
    int count;
    Word words[MOST_WORDS]; /* by slot */
    struct {
        uint8_t from, to;
    } slots[SLOTS]; /* by the first two bytes */
} Table;

static inline unsigned slot_of(const uint8_t *text) {
    return (text[0] * 33u ^ text[1] * 4u) % SLOTS;
}

static int by_slot(const void *one, const void *other) {
    return (int)slot_of(((const Word *)one)->text) - (int)slot_of(((const Word *)other)->text);
}

static void add_to_filter(const Table *table, Filter *filter, const Word *word) {
    for (int i = 0; i < FIRST; i++) {
        if (i < word->length)
            let_pass(filter, &table->way, i, word->text[i], word->group);
        else
            let_all_pass(filter, i, word->group);
    }
}

static void free_table(PyObject *capsule) {
    PyMem_Free(PyCapsule_GetPointer(capsule, NAME));
}

/* table_of_words(words, groups, left_out) -> what mark_words takes, or None where it would be slow

   words      a tuple of bytes
   groups     uint8[words]: which of eight groups each word is in. The more alike the words of a group begin, the better
   left_out   how many of the ways that this processor has are not to be used */
PyObject *table_of_words(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("table_of_words", count, 3))
        return NULL;
    Py_ssize_t left_out = PyLong_AsSsize_t(args[2]);
    if (left_out == -1 && PyErr_Occurred())
        return NULL;
    if (!PyTuple_Check(args[0])) {
        PyErr_SetString(PyExc_TypeError, "words must be a tuple");
        return NULL;
    }
    Array groups;
    if (take_array(args[1], &groups, 'b') < 0)
        return NULL;
    PyObject *result = NULL;
    Table *table = PyMem_Calloc(1, sizeof(Table));
    if (!table) {
        PyErr_NoMemory();
        goto done;
    }
    if (PyTuple_Size(args[0]) > MOST_WORDS || PyTuple_Size(args[0]) != groups.count) {
        PyErr_Format(PyExc_ValueError, "at most %d words, with a group for each", MOST_WORDS);
        goto done;
    }
    if (!find_way(&table->way, left_out)) {
        result = Py_NewRef(Py_None);
        goto done;
    }
    table->count = (int)groups.count;
    for (int i = 0; i < table->count; i++) {
        char *text;
        Py_ssize_t length;
        if (PyBytes_AsStringAndSize(PyTuple_GetItem(args[0], i), &text, &length) < 0)
            goto done;
        uint8_t group = ((const uint8_t *)groups.at)[i];
        if (length < SHORTEST || length > LONGEST || group > 7) {
            PyErr_Format(PyExc_ValueError, "a word must have %d to %d bytes and a group from 0 to 7", SHORTEST, LONGEST);
            goto done;
        }
        Word *word = &table->words[i];
        memcpy(word->text, text, (size_t)length);
        memcpy(word->bytes, text, (size_t)length);
        memset(word->mask, 0xFF, (size_t)length);
        word->number = (uint8_t)i;
        word->length = (uint8_t)length;
        word->group = (uint8_t)(1 << group);
        add_to_filter(table, &table->filter, word);
    }
    qsort(table->words, (size_t)table->count, sizeof(Word), by_slot);
    for (int i = table->count - 1; i >= 0; i--) {
        unsigned slot = slot_of(table->words[i].text);
        table->slots[slot].from = (uint8_t)i;
        if (!table->slots[slot].to)
            table->slots[slot].to = (uint8_t)(i + 1);
    }
    result = PyCapsule_New(table, NAME, free_table);
    if (result)
        table = NULL; /* it is the capsule's now */
done:
    PyMem_Free(table);
    PyBuffer_Release(&groups.buffer);
    return result;
}

/* Take the words of a group that were found out of the filter. */
static void take_out(const Table *table, Filter *filter, uint8_t group, const uint8_t *found) {
    let_none_pass(filter, group);
    for (int i = 0; i < table->count; i++) {
        const Word *word = &table->words[i];
        if (word->group == group && !found[word->number])
            add_to_filter(table, filter, word);
    }
}

/* Compare the words that begin like this text, of which LONGEST bytes can be read; `size` of them are in the cell. */
static inline void compare(const Table *table, Filter *filter, const uint8_t *text, size_t size, uint8_t *found) {
    uint64_t here[2];
    memcpy(here, text, sizeof here);
    unsigned slot = slot_of(text);
    const Word *word = table->words + table->slots[slot].from, *last = table->words + table->slots[slot].to;
    for (; word < last; word++) {
        if ((here[0] ^ word->bytes[0]) & word->mask[0] || (here[1] ^ word->bytes[1]) & word->mask[1])
            continue;
        if (!found[word->number] && word->length <= size) {
            found[word->number] = 1;
            take_out(table, filter, word->group, found);
        }
    }
}

/* Look at stretches of a cell that begin before `end`. STRETCH + LONGEST bytes of each can be read; the cell has `size`. */
static void look(const Table *table, Filter *filter, const uint8_t *text, size_t end, size_t size, uint8_t *found) {
    uint64_t passed;
    for (size_t at = 0; (at = table->way.next(filter, text, at, end, &passed)) < end; at += STRETCH) {
        for (; passed; passed &= passed - 1) {
            size_t place = at + (size_t)__builtin_ctzll(passed);
            if (place < size)
                compare(table, filter, text + place, size - place, found);
        }
    }
}

/* mark_words(table, data, cell, found)

   data       bytes of a block
   cell       how many bytes of it are a cell; the last one may be shorter
   found      bool[cells, words]: made true where a cell has a word; a word across the edge of a cell is in neither */
PyObject *mark_words(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("mark_words", count, 4))
        return NULL;
    const Table *table = PyCapsule_GetPointer(args[0], NAME);
    if (!table)
        return NULL;
    Py_ssize_t cell = PyLong_AsSsize_t(args[2]);
    if (cell == -1 && PyErr_Occurred())
        return NULL;
    PyObject *const objects[] = {args[1], args[3]};
    Array arrays[2];
    if (take_arrays(objects, arrays, "bB") < 0)
        return NULL;
    size_t size = (size_t)arrays[0].count;
    size_t cells = cell > 0 ? size / (size_t)cell + (size % (size_t)cell != 0) : 0;
    PyObject *result = NULL;
    if (cell <= 0 || (size_t)arrays[1].count != cells * (size_t)table->count) {
        PyErr_SetString(PyExc_ValueError, "found must have a place for each word of each cell");
        goto done;
    }
    const uint8_t *data = arrays[0].at;
    uint8_t *found = arrays[1].at;
    Py_BEGIN_ALLOW_THREADS;
    for (size_t start = 0; start < size; start += (size_t)cell, found += table->count) {
        Filter filter = table->filter;
        size_t here = size - start < (size_t)cell ? size - start : (size_t)cell;
        /* Stretches of which all that may be read is in the block; and what is left of the cell. */
        size_t room = size - start < STRETCH + LONGEST ? 0 : size - start - STRETCH - LONGEST + 1;
        size_t most = here < room ? here : room;
        look(table, &filter, data + start, most, here, found);
        size_t seen = (most + STRETCH - 1) / STRETCH * STRETCH;
        if (seen < here) {
            uint8_t rest[3 * STRETCH] = {0};
            memcpy(rest, data + start + seen, here - seen);
            look(table, &filter, rest, here - seen, here - seen, found);
        }
    }
    Py_END_ALLOW_THREADS;
    result = Py_NewRef(Py_None);
done:
    release(arrays, 2);
    return result;
}
