# npm install --loglevel silly: peers that do not agree
version() { echo "npm $(npm --version)"; }
setup() {
cat > package.json <<'EOF'
{"name": "dashboard", "version": "1.0.0", "private": true,
 "dependencies": {"react": "^18.3.1", "react-dom": "^18.3.1", "react-router-dom": "^6.28.0", "zustand": "^5.0.0", "lodash": "^4.17.21", "axios": "^1.7.0", "date-fns": "^4.1.0"},
 "devDependencies": {"eslint": "^8.57.0", "eslint-config-airbnb": "^19.0.4", "eslint-plugin-react": "^7.37.0", "eslint-plugin-react-hooks": "^5.1.0", "eslint-plugin-import": "^2.31.0", "eslint-plugin-jsx-a11y": "^6.10.0", "webpack": "^5.96.0"}}
EOF
}
run() { npm install --loglevel silly --cache "$PWD/.npm" --no-audit --no-fund; }
