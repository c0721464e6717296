# apt-get install --simulate with its resolver's thoughts: two packages that exclude each other
version() { apt-get --version | head -1; }
setup() { :; }
run() { apt-get install --simulate -o Debug::pkgDepCache::AutoInstall=true -y --no-install-recommends kde-standard texlive-latex-extra libreoffice-writer postfix exim4-daemon-light; }
