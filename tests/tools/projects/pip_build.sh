# pip install on a terminal, with its bars: many packages, one C extension that does not compile
# On a terminal.
version() { python -m pip --version | cut -d' ' -f1-2; }
setup() {
python -m venv env
mkdir -p turbo
cat > turbo/setup.py <<'EOF'
from setuptools import Extension, setup

setup(name="turbo-rows", version="0.9.2", install_requires=["jinja2", "click", "requests"], packages=["turbo_rows"], ext_modules=[Extension("turbo_rows._speed", ["speed.c"], extra_compile_args=["-Wall", "-Wextra"])])
EOF
mkdir -p turbo/turbo_rows
for name in arrays batches cells dates errors frames groups headers index joins keys lines merges nulls output parser quotes rows sheets types views writers; do echo "NAME = '$name'" > turbo/turbo_rows/$name.py; done
touch turbo/turbo_rows/__init__.py
cat > turbo/speed.c <<'EOF'
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *sum_rows(PyObject *self, PyObject *args) {
    PyThreadState *state = PyThreadState_GET();
    long total = state->frame->f_lineno;
    int unused;
    return PyLong_FromLong(total);
}

static PyMethodDef methods[] = {{"sum_rows", sum_rows, METH_VARARGS, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_speed", NULL, -1, methods};
PyMODINIT_FUNC PyInit__speed(void) { return PyModule_Create(&module); }
EOF
}
run() { env/bin/python -m pip install --no-cache-dir flask rich sphinx black ./turbo; }
