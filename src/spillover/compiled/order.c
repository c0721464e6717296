/* Equal values brought together, and numbers sorted: the twins of group, number_alike and sort_down in select/arrays.py.

   Values are sorted by their bytes, the lowest first, and bytes in which they do not differ are left out: small numbers take
   two passes. */
#include "loops.h"

typedef struct {
    uint64_t key;
    intptr_t place;
} Item;

/* Read whole numbers of 2, 4 or 8 bytes as keys in the same order. */
static void read_keys(const Array *values, int is_signed, Item *items) {
    const char *at = values->at;
    switch (values->buffer.itemsize) {
    case 2:
        for (Py_ssize_t i = 0; i < values->count; i++) {
            uint16_t value;
            memcpy(&value, at + 2 * i, 2);
            items[i] = (Item){is_signed ? value ^ 0x8000u : value, i};
        }
        break;
    case 4:
        for (Py_ssize_t i = 0; i < values->count; i++) {
            uint32_t value;
            memcpy(&value, at + 4 * i, 4);
            items[i] = (Item){is_signed ? value ^ 0x80000000u : value, i};
        }
        break;
    default:
        for (Py_ssize_t i = 0; i < values->count; i++) {
            uint64_t value;
            memcpy(&value, at + 8 * i, 8);
            items[i] = (Item){is_signed ? value ^ (uint64_t)1 << 63 : value, i};
        }
    }
}

/* Sort by key, earlier ones first; return which of the two stretches of memory it ended up in. */
static Item *sort_items(Item *items, Item *other, Py_ssize_t count) {
    uint64_t differ = 0;
    for (Py_ssize_t i = 1; i < count; i++)
        differ |= items[i].key ^ items[0].key;
    for (int shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 0xFF))
            continue;
        Py_ssize_t before[256] = {0}, sum = 0;
        for (Py_ssize_t i = 0; i < count; i++)
            before[items[i].key >> shift & 0xFF]++;
        for (int byte = 0; byte < 256; byte++) {
            Py_ssize_t size = before[byte];
            before[byte] = sum;
            sum += size;
        }
        for (Py_ssize_t i = 0; i < count; i++)
            other[before[items[i].key >> shift & 0xFF]++] = items[i];
        Item *swap = items;
        items = other;
        other = swap;
    }
    return items;
}

/* Take an array of whole numbers, and return its items in order; `memory` is to be freed. NULL, with an error set, if it is none. */
static Item *order_items(PyObject *object, int is_signed, Array *values, Item **memory) {
    if (take_array(object, values, 'n') < 0)
        return NULL;
    *memory = PyMem_Malloc(2 * sizeof(Item) * (size_t)(values->count ? values->count : 1));
    if (!*memory) {
        PyBuffer_Release(&values->buffer);
        PyErr_NoMemory();
        return NULL;
    }
    Item *items;
    Py_BEGIN_ALLOW_THREADS;
    read_keys(values, is_signed, *memory);
    items = sort_items(*memory, *memory + values->count, values->count);
    Py_END_ALLOW_THREADS;
    return items;
}

/* group_values(values, is_signed, order, starts, sizes): return how many groups there are.

   values     whole numbers, any[count]
   order      intp[count], written: the order that brings equal values together, earlier ones first
   starts     intp[count], written: where each group begins in it
   sizes      intp[count], written */
PyObject *group_values(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("group_values", count, 5))
        return NULL;
    int is_signed = PyObject_IsTrue(args[1]);
    if (is_signed < 0)
        return NULL;
    Array arrays[3], values;
    Item *memory = NULL, *items;
    PyObject *result = NULL;
    if (take_arrays(args + 2, arrays, "III") < 0)
        return NULL;
    items = order_items(args[0], is_signed, &values, &memory);
    if (!items)
        goto done;
    if (arrays[0].count != values.count || arrays[1].count != values.count || arrays[2].count != values.count) {
        PyErr_SetString(PyExc_ValueError, "there must be a place for each value");
    } else {
        intptr_t *order = arrays[0].at, *starts = arrays[1].at, *sizes = arrays[2].at, groups = 0;
        for (Py_ssize_t i = 0; i < values.count; i++) {
            order[i] = items[i].place;
            if (!i || items[i].key != items[i - 1].key)
                starts[groups++] = i;
        }
        for (intptr_t i = 0; i < groups; i++)
            sizes[i] = (i + 1 < groups ? starts[i + 1] : values.count) - starts[i];
        result = PyLong_FromSsize_t(groups);
    }
    PyMem_Free(memory);
    PyBuffer_Release(&values.buffer);
done:
    release(arrays, 3);
    return result;
}

/* number_values(values, numbers): return how many distinct values there are.

   values     whole numbers of no sign, any[count]
   numbers    uint16[count] or uint32[count], written: from 1 in the order of the values; 0 for 0 */
PyObject *number_values(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("number_values", count, 2))
        return NULL;
    Array values;
    Item *memory = NULL, *items;
    PyObject *result = NULL;
    Array numbered;
    if (take_array(args[1], &numbered, 'N') < 0)
        return NULL;
    Py_buffer numbers = numbered.buffer;
    items = order_items(args[0], 0, &values, &memory);
    if (!items)
        goto done;
    if ((numbers.itemsize != 2 && numbers.itemsize != 4) || numbers.len / numbers.itemsize != values.count ||
        (uint64_t)values.count >> (8 * numbers.itemsize)) {
        PyErr_SetString(PyExc_ValueError, "there must be a place for each value, with room for its number");
    } else {
        Py_ssize_t distinct = 0;
        uint32_t number = 0;
        for (Py_ssize_t i = 0; i < values.count; i++) {
            if (!i || items[i].key != items[i - 1].key) {
                distinct++;
                number += i || items[i].key;
            }
            if (numbers.itemsize == 2)
                ((uint16_t *)numbers.buf)[items[i].place] = (uint16_t)number;
            else
                ((uint32_t *)numbers.buf)[items[i].place] = number;
        }
        result = PyLong_FromSsize_t(distinct);
    }
    PyMem_Free(memory);
    PyBuffer_Release(&values.buffer);
done:
    PyBuffer_Release(&numbers);
    return result;
}

/* sort_down(values, order): the places of the values, the largest first, earlier ones before equal ones behind them.

   values     float64[count]
   order      intp[count], written */
PyObject *sort_down(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("sort_down", count, 2))
        return NULL;
    Array arrays[2];
    if (take_arrays(args, arrays, "dI") < 0)
        return NULL;
    Py_ssize_t size = arrays[0].count;
    const double *values = arrays[0].at;
    intptr_t *order = arrays[1].at;
    PyObject *result = NULL;
    Item *memory = NULL;
    if (arrays[1].count != size) {
        PyErr_SetString(PyExc_ValueError, "there must be a place for each value");
        goto done;
    }
    memory = PyMem_Malloc(2 * sizeof(Item) * (size_t)(size ? size : 1));
    if (!memory) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < size; i++) {
        double value = 0.0 - values[i]; /* so that there is one zero only */
        uint64_t key;
        memcpy(&key, &value, 8);
        /* As whole numbers, what is above 0 is in order, and what is below it in the order turned around. */
        memory[i] = (Item){value != value ? UINT64_MAX : key >> 63 ? ~key : key | (uint64_t)1 << 63, i};
    }
    const Item *items = sort_items(memory, memory + size, size);
    for (Py_ssize_t i = 0; i < size; i++)
        order[i] = items[i].place;
    result = Py_NewRef(Py_None);
done:
    PyMem_Free(memory);
    release(arrays, 2);
    return result;
}
