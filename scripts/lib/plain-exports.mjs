/** As rolldown hands one name of a chunk to the others. */
const GETTER =
  /^Object\.defineProperty\(exports, "([\w$]+)", \{\s*enumerable: true,\s*get: function ?\(\) \{\s*return ([\w$]+);\s*\}\s*\}\);$/gm;

/**
 * A plugin of rolldown for CommonJS output: what can never change is handed on as a plain property. A getter for each of
 * the hundreds of names of a chunk takes a cold command a tenth of what it costs to load it.
 */
export function plainExports() {
  return { name: "plain-exports", renderChunk: (code) => ({ code: withPlainExports(code) }) };
}

/** @param {string} code of a chunk as rolldown writes it: its exports stand behind everything else, so all has its value there */
export function withPlainExports(code) {
  const fixed = new Set(
    [...code.matchAll(/^(?:const|(?:async )?function\*?|class) ([\w$]+)/gm)].map(([, name]) => name),
  );
  return code.replaceAll(GETTER, (getter, name, local) =>
    fixed.has(local) ? `exports.${name} = ${local};` : getter,
  );
}
