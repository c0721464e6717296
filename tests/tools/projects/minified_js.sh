# cat: a minified script of 35 KB on two lines, its name and version in a comment at the top
version() { node --version | sed 's/^/node /'; }
setup() {
cat > build.js <<'END'
let out = "/*! harbour-lamps v4.2.1 | (c) Harbour Lamps | MIT */\n!function(e,t){\"use strict\";";
for (let n = 0; n < 400; n++) out += `function f${n}(e,t){if(!e)throw new Error("lamp ${n} not found");return t?e.on(${n * 7919 % 997}):e.off()}`;
require("fs").writeFileSync("lamps.min.js", out + "t.lamps={on:f1,off:f2}}(window,this);\n");
END
node build.js
}
run() { cat lamps.min.js; }
