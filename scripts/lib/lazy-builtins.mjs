/**
 * Node's own modules that take a cold command 0.1 to 2 ms each to load, while most commands call none of their functions;
 * `node:fs` and `node:path`, which all of them call, are loaded at once.
 */
const LAZY = [
  "node:child_process",
  "node:crypto",
  "node:fs/promises",
  "node:net",
  "node:os",
  "node:stream",
  "node:timers/promises",
];

const IMPORT = /^let (node_\w+) = require\("(node:[\w/]+)"\);\n/gm;

/**
 * A plugin of rolldown for CommonJS output: a static import of these modules loads them when one of their names is first
 * used, not where it stands. The sources keep their plain imports.
 */
export function lazyBuiltins() {
  return { name: "lazy-builtins", renderChunk: (code) => ({ code: withLazyBuiltins(code) }) };
}

/** @param {string} code of a chunk as rolldown writes it */
export function withLazyBuiltins(code) {
  const getters = [];
  const found = [...code.matchAll(IMPORT)].filter(([, name, module]) => {
    // Only where it is used as `name.member`; a default import is made over and handed on as a whole.
    const uses = code.match(new RegExp(`\\b${name}\\b`, "g")).length - 1;
    const members = (code.match(new RegExp(`\\b${name}\\.`, "g")) ?? []).length;
    return LAZY.includes(module) && uses === members;
  });
  let lazy = code;
  for (const [line, name, module] of found) {
    getters.push(`\tget ${name}() { return require("${module}"); }`);
    lazy = lazy.replace(line, "").replaceAll(new RegExp(`\\b${name}\\.`, "g"), `builtins.${name}.`);
  }
  return getters.length === 0 ? code : withHeader(lazy, `const builtins = {\n${getters.join(",\n")}\n};\n`);
}

/** Behind a command's first line. */
function withHeader(code, header) {
  return code.startsWith("#!") ? code.replace("\n", () => `\n${header}`) : `${header}${code}`;
}
