# webpack --stats verbose: sixty modules, one import that leads nowhere
version() { echo "webpack $(node -p "require('$TOOLS/js/node_modules/webpack/package.json').version")"; }
setup() {
mkdir -p src/pages
for number in $(seq 1 60); do
echo "import {theme} from '../theme.js'; export const page$number = () => theme('page $number');" > src/pages/page$number.js
echo "import {page$number} from './pages/page$number.js'; page$number();" >> src/index.js
done
echo "export const theme = (name) => '<main>' + name + '</main>';" > src/theme.js
echo "import {formatPrice} from '../utils/currency.js'; export const page31 = () => formatPrice(31);" > src/pages/page31.js
sed -i "s/{theme}/{themes}/" src/pages/page44.js
}
run() { node "$TOOLS/js/node_modules/webpack/bin/webpack.js" --mode development --stats verbose; }
