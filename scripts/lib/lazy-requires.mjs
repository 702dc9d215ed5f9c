import path from "node:path";

/**
 * Modules of Node that cost a command 0.1 to 2 ms each to load, while most commands call none of their
 * functions. `node:fs` and `node:path` are loaded at once, because every command calls them.
 */
const LAZY_BUILTINS = [
  "node:child_process",
  "node:crypto",
  "node:fs/promises",
  "node:net",
  "node:os",
  "node:stream",
  "node:timers/promises",
];

const IMPORT = /^(?:let|const) ([\w$]+) = require\("([^"]+)"\);\n/gm;

/**
 * Returns a rolldown plugin for CommonJS output: a static import of these modules of Node, or of some chunks, loads them
 * at the first use of one of their names. The sources keep their plain imports.
 * @param {(file: string) => boolean} isLazyChunk by the chunk's file, below the directory of the output
 */
export function lazyRequires(isLazyChunk) {
  return {
    name: "lazy-requires",
    renderChunk: (code, { fileName }) => {
      const isLazy = (module) => isLazyChunk(path.posix.join(path.posix.dirname(fileName), module));
      return { code: withLazyRequires(code, isLazy) };
    },
  };
}

/**
 * @param {string} code of a chunk in rolldown's output
 * @param {(module: string) => boolean} isLazyChunk by the text in the call of `require`
 */
export function withLazyRequires(code, isLazyChunk = () => false) {
  const getters = [];
  const found = [...code.matchAll(IMPORT)].filter(([, name, module]) => {
    // Only if every use has the form `name.member`; a default import is converted and passed on as a whole.
    const uses = code.match(useOf(name, "(?![\\w$])")).length - 1;
    const members = (code.match(useOf(name, "\\.")) ?? []).length;
    return (LAZY_BUILTINS.includes(module) || isLazyChunk(module)) && uses === members;
  });
  let lazy = code;
  for (const [line, name, module] of found) {
    getters.push(`\tget ${name}() { return loaded(this, "${name}", require("${module}")); }`);
    lazy = lazy.replace(line, "").replaceAll(useOf(name, "\\."), () => `lazyModules.${name}.`);
  }
  return getters.length === 0
    ? code
    : withHeader(lazy, `const lazyModules = {\n${getters.join(",\n")}\n};\n${LOADED}`);
}

/** A function that replaces the getter: later uses cost as little as those of a plain import. */
const LOADED = `function loaded(modules, name, value) {
	Object.defineProperty(modules, name, { value });
	return value;
}
`;

/** Matches a name, which may contain "$", before a pattern. */
function useOf(name, after) {
  return new RegExp(`(?<![\\w$])${name.replaceAll("$", "\\$")}${after}`, "g");
}

/** Inserts the header after a command's first line. */
function withHeader(code, header) {
  return code.startsWith("#!") ? code.replace("\n", () => `\n${header}`) : `${header}${code}`;
}
