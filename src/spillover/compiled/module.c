/* The module: which loops there are, by name. */
#include "loops.h"

#define LOOP(name, says) {#name, (PyCFunction)(void (*)(void))name, METH_FASTCALL, says}

static PyMethodDef functions[] = {
    LOOP(add_trees, "Add what decision trees say of each line."),
    LOOP(take, "Choose as many lines as fit."),
    LOOP(price, "Return what lines cost, with a marker for each gap."),
    LOOP(grow, "Find how far the strength of lines reaches."),
    LOOP(count_alike, "Count how often values recur."),
    LOOP(sort_down, "Sort numbers, the largest first."),
    LOOP(mean_around, "Return the mean around each line."),
    LOOP(share_around, "Return the share of some lines around each line."),
    LOOP(stretches, "Return the best, the size and the places of stretches of lines."),
    LOOP(find_parents, "Return which line each is indented under."),
    LOOP(mark_matches, "Return a function that marks matches."),
    LOOP(group_values, "Bring equal values together."),
    LOOP(number_values, "Number distinct values."),
    LOOP(split_lines, "Find distinct lines and messages."),
    LOOP(shape_lines, "Say what lines look like."),
    LOOP(cost_lines, "Estimate the tokens of each line."),
    LOOP(spread_classes, "Tell the classes of messages of each line."),
    LOOP(strip_names, "Leave out names that tell lines apart."),
    LOOP(tally, "Count newlines and characters."),
    LOOP(add_beginnings, "Count how lines begin."),
    LOOP(table_of_words, "Return what mark_words takes."),
    LOOP(mark_words, "Mark which words each cell has."),
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
    return PyModule_AddStringConstant(module, "SOURCES", SOURCES); /* a hash of these files, from hatch_build.py */
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, (void *)fill},
    {0, NULL},
};

static struct PyModuleDef definition = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "_loops",
    .m_doc = "Loops of spillover in C; spillover.compiled says what they are for.",
    .m_methods = functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__loops(void) {
    return PyModuleDef_Init(&definition);
}
