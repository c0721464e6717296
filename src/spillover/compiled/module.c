/* The module: which loops there are, by name. */
#include "loops.h"

static PyMethodDef functions[] = {
    {"add_beginnings", (PyCFunction)(void (*)(void))add_beginnings, METH_FASTCALL, "Count how lines begin."},
    {"add_trees", (PyCFunction)(void (*)(void))add_trees, METH_FASTCALL, "Add what decision trees say of each line."},
    {"mark_words", (PyCFunction)(void (*)(void))mark_words, METH_FASTCALL, "Mark which words each cell has."},
    {"table_of_words", (PyCFunction)(void (*)(void))table_of_words, METH_FASTCALL, "Return what mark_words takes."},
    {"tally", (PyCFunction)(void (*)(void))tally, METH_FASTCALL, "Count newlines and characters."},
    {NULL, NULL, 0, NULL},
};

static int fill(PyObject *module) {
    return PyModule_AddIntConstant(module, "VERSION", LOOPS_VERSION);
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
