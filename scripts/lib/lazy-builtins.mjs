/**
 * Modules of Node that cost a command 0.1 to 2 ms each to load, while most commands call none of their
 * functions. `node:fs` and `node:path` are loaded at once, because every command calls them.
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
 * Returns a rolldown plugin for CommonJS output: a static import of these modules loads them at the first use
 * of one of their names. The sources keep their plain imports.
 */
export function lazyBuiltins() {
  return { name: "lazy-builtins", renderChunk: (code) => ({ code: withLazyBuiltins(code) }) };
}

/** @param {string} code of a chunk in rolldown's output */
export function withLazyBuiltins(code) {
  const getters = [];
  const found = [...code.matchAll(IMPORT)].filter(([, name, module]) => {
    // Only if every use has the form `name.member`; a default import is converted and passed on as a whole.
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

/** Inserts the header after a command's first line. */
function withHeader(code, header) {
  return code.startsWith("#!") ? code.replace("\n", () => `\n${header}`) : `${header}${code}`;
}
