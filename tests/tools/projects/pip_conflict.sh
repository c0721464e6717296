# pip install -v: two requirements that cannot both be met
version() { python -m pip --version | cut -d' ' -f1-2; }
setup() {
python -m venv env
printf 'flask==2.0.3\njinja2==3.0.3\nrich\nclick<8.1\nsphinx>=7.4,<8.3\nblack==24.10.0\n' > requirements.txt
}
run() { env/bin/python -m pip install -v --no-cache-dir -r requirements.txt; }
