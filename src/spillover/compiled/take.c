/* How many lines fit, what lines cost with their markers, and how far strength reaches: the twins of take, price and grow
   in select/take.py. All sums are added up in the same order, so that they are the same to the last bit. */
#include "loops.h"

/* What a gap costs, up to which cost one is filled, how far sums may be off, and how often a number is guessed. */
typedef struct {
    double marker, hole, rounding;
    long guesses;
} Rules;

/* The lines to choose from: what each costs, what all before it cost, and room to work in. */
typedef struct {
    Py_ssize_t lines;
    const double *cost, *upto;
    double *some;
} Costs;

/* The sum of some numbers, one after the other: numpy's own sums are added in an order that its versions do not agree on. */
static double add_up(const double *numbers, Py_ssize_t count) {
    double sum = 0.0;
    for (Py_ssize_t i = 0; i < count; i++)
        sum += numbers[i];
    return sum;
}

/* What these lines cost, with a marker for each gap. */
static double price_of(const uint8_t *keep, const Costs *costs, double marker) {
    if (!costs->lines)
        return 0.0;
    Py_ssize_t kept = 0, gaps = !keep[0];
    for (Py_ssize_t i = 0; i < costs->lines; i++) {
        if (!keep[i])
            continue;
        costs->some[kept++] = costs->cost[i];
        gaps += i + 1 < costs->lines && !keep[i + 1];
    }
    return add_up(costs->some, kept) + marker * (double)gaps;
}

/* Fill the holes that cost less than a marker for them. */
static void fill_holes(uint8_t *keep, const Costs *costs, double hole) {
    Py_ssize_t before = -1;
    for (Py_ssize_t i = 0; i <= costs->lines; i++) {
        if (i < costs->lines && !keep[i])
            continue;
        if (i - before > 1 && costs->upto[i] - costs->upto[before + 1] <= hole)
            memset(keep + before + 1, 1, (size_t)(i - before - 1));
        before = i;
    }
}

/* What these lines cost once small holes are filled; exact where it is near `room`. `spare`: as long as `keep`. */
static double price_filled(const uint8_t *keep, uint8_t *spare, const Costs *costs, double room, const Rules *rules) {
    Py_ssize_t large = 0, before = -1;
    for (Py_ssize_t i = 0; i <= costs->lines; i++) {
        if (i < costs->lines && !keep[i])
            continue;
        double hole = costs->upto[i] - costs->upto[before + 1];
        if (hole > rules->hole)
            costs->some[large++] = hole;
        before = i;
    }
    double about = costs->upto[costs->lines] - add_up(costs->some, large) + rules->marker * (double)large;
    if (fabs(about - room) > rules->rounding)
        return about;
    memcpy(spare, keep, (size_t)costs->lines);
    fill_holes(spare, costs, rules->hole);
    return price_of(spare, costs, rules->marker);
}

/* Choose as many lines from the beginning of `order` as fit, on top of those in `base`. `chosen`: which lines then are.
   `new`, `added` and `spare`: memory for as many lines as `order` has, and for as many as there are. */
static void take_lines(const uint8_t *base, const intptr_t *order, Py_ssize_t length, Py_ssize_t count, const Costs *costs,
                       double room, const Rules *rules, uint8_t *chosen, intptr_t *new, double *added, uint8_t *spare) {
    Py_ssize_t fresh = 0, held = 0;
    double sum = 0.0;
    for (Py_ssize_t i = 0; i < length; i++) {
        if (base[order[i]])
            continue;
        sum += costs->cost[order[i]];
        new[fresh] = order[i];
        added[fresh++] = sum;
    }
    for (Py_ssize_t i = 0; i < costs->lines; i++)
        if (base[i])
            costs->some[held++] = costs->cost[i];
    double most = room + rules->rounding - add_up(costs->some, held);
    Py_ssize_t low = 0, high = 0;
    while (high < fresh && high < count && added[high] < most)
        high++;
    memcpy(chosen, base, (size_t)costs->lines);
    double below = price_filled(chosen, spare, costs, room, rules);
    double each = high ? added[high - 1] / (double)high + rules->marker : 0.0;
    for (long guesses = 1; low < high; guesses++) {
        Py_ssize_t middle = (low + high + 1) / 2;
        if (guesses <= rules->guesses) {
            double step = (room - below) / each;
            middle = step >= (double)(high - low) ? high : low + (step > 0.0 ? (Py_ssize_t)step : 0);
        }
        middle = middle < low + 1 ? low + 1 : middle > high ? high : middle;
        memcpy(chosen, base, (size_t)costs->lines);
        for (Py_ssize_t i = 0; i < middle; i++)
            chosen[new[i]] = 1;
        double here = price_filled(chosen, spare, costs, room, rules);
        each = (here - below) / (double)(middle - low);
        each = each > 1.0 ? each : 1.0;
        if (here <= room) {
            low = middle;
            below = here;
        } else {
            high = middle - 1;
        }
    }
    memcpy(chosen, base, (size_t)costs->lines);
    if (!low && !(length && base[order[0]] && below <= room))
        return;
    for (Py_ssize_t i = 0; i < low; i++)
        chosen[new[i]] = 1;
    fill_holes(chosen, costs, rules->hole);
}

/* take(base, order, count, cost, upto, room, keep, marker, hole, rounding, guesses): `keep` is written. */
PyObject *take(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("take", count, 11))
        return NULL;
    Rules rules = {PyFloat_AsDouble(args[7]), PyFloat_AsDouble(args[8]), PyFloat_AsDouble(args[9]), PyLong_AsLong(args[10])};
    Py_ssize_t most = PyLong_AsSsize_t(args[2]);
    double room = PyFloat_AsDouble(args[5]);
    if (PyErr_Occurred())
        return NULL;
    PyObject *const objects[] = {args[0], args[1], args[3], args[4], args[6]};
    Array arrays[5];
    if (take_arrays(objects, arrays, "biddB") < 0)
        return NULL;
    PyObject *result = NULL;
    Py_ssize_t lines = arrays[0].count, length = arrays[1].count;
    const intptr_t *order = arrays[1].at;
    void *memory = NULL;
    if (arrays[2].count != lines || arrays[3].count != lines + 1 || arrays[4].count != lines) {
        PyErr_SetString(PyExc_ValueError, "base, cost, upto and keep must be of the same lines");
        goto done;
    }
    for (Py_ssize_t i = 0; i < length; i++) {
        if (order[i] < 0 || order[i] >= lines) {
            PyErr_SetString(PyExc_ValueError, "the order contains an invalid line number");
            goto done;
        }
    }
    memory = PyMem_Malloc((size_t)(lines + 1) * 9 + (size_t)length * 16);
    if (!memory) {
        PyErr_NoMemory();
        goto done;
    }
    Costs costs = {lines, arrays[2].at, arrays[3].at, memory};
    double *added = costs.some + lines + 1;
    intptr_t *new = (intptr_t *)(added + length);
    take_lines(arrays[0].at, order, length, most, &costs, room, &rules, arrays[4].at, new, added, (uint8_t *)(new + length));
    result = Py_NewRef(Py_None);
done:
    PyMem_Free(memory);
    release(arrays, 5);
    return result;
}

/* price(keep, cost, marker) -> float */
PyObject *price(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("price", count, 3))
        return NULL;
    double marker = PyFloat_AsDouble(args[2]);
    if (PyErr_Occurred())
        return NULL;
    Array arrays[2];
    if (take_arrays(args, arrays, "bd") < 0)
        return NULL;
    PyObject *result = NULL;
    double *some = NULL;
    if (arrays[0].count != arrays[1].count) {
        PyErr_SetString(PyExc_ValueError, "keep and cost must be of the same lines");
        goto done;
    }
    some = PyMem_Malloc((size_t)(arrays[0].count + 1) * 8);
    if (!some) {
        PyErr_NoMemory();
        goto done;
    }
    Costs costs = {arrays[0].count, arrays[1].at, NULL, some};
    result = PyFloat_FromDouble(price_of(arrays[0].at, &costs, marker));
done:
    PyMem_Free(some);
    release(arrays, 2);
    return result;
}

/* grow(points, cost, scale, down, up, dull, out): the strength of each line, its own or what reaches it from above or below. */
PyObject *grow(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    (void)self;
    if (!has_arguments("grow", count, 7))
        return NULL;
    double scale = PyFloat_AsDouble(args[2]), down = PyFloat_AsDouble(args[3]), up = PyFloat_AsDouble(args[4]);
    double dull = PyFloat_AsDouble(args[5]);
    if (PyErr_Occurred())
        return NULL;
    PyObject *const objects[] = {args[0], args[1], args[6]};
    Array arrays[3];
    if (take_arrays(objects, arrays, "ddD") < 0)
        return NULL;
    Py_ssize_t lines = arrays[0].count;
    PyObject *result = NULL;
    if (arrays[1].count != lines || arrays[2].count != lines) {
        PyErr_SetString(PyExc_ValueError, "points, cost and out must be of the same lines");
        goto done;
    }
    const double *points = arrays[0].at, *cost = arrays[1].at;
    double *out = arrays[2].at, so_far = 0.0, best = -INFINITY;
    for (Py_ssize_t i = 0; i < lines; i++) {
        so_far += (down * cost[i] + dull * (points[i] < 0.0 ? -points[i] : 0.0)) * scale;
        best = points[i] + so_far > best ? points[i] + so_far : best;
        out[i] = best - so_far;
    }
    so_far = 0.0;
    best = -INFINITY;
    for (Py_ssize_t i = lines - 1; i >= 0; i--) {
        so_far += (up * cost[i] + dull * (points[i] < 0.0 ? -points[i] : 0.0)) * scale;
        best = points[i] + so_far > best ? points[i] + so_far : best;
        out[i] = best - so_far > out[i] ? best - so_far : out[i];
    }
    result = Py_NewRef(Py_None);
done:
    release(arrays, 3);
    return result;
}
