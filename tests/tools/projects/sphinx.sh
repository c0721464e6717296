# sphinx-build -v on a terminal: progress lines, warnings turned into failure
# On a terminal.
version() { sphinx-build --version; }
setup() {
mkdir -p guide
printf 'project = "Depot"\nextensions = ["sphinx.ext.autodoc"]\nexclude_patterns = []\n' > conf.py
printf 'Depot\n=====\n\n.. toctree::\n   :glob:\n\n   guide/*\n' > index.rst
for number in $(seq -w 1 90); do printf 'Chapter %s\n==========\n\nSee :doc:`/index`. Errors are in the log.\n' $number > guide/chapter$number.rst; done
printf '\n.. automodule:: depot.pricing\n   :members:\n\nSee :ref:`tax-tables`.\n' >> guide/chapter17.rst
}
run() { sphinx-build -v -n -W --keep-going -E -b html . out; }
