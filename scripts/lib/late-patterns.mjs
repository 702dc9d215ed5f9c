import { parseAst } from "rolldown/parseAst";

/**
 * A plugin of rolldown for CommonJS output: an expression that names Unicode properties is built where it is used. V8 checks
 * each literal as it reads a chunk, also in a function that is never called, and gathers the characters of all those
 * properties for it: a millisecond of every start.
 * @param {string} chunk the name of the one that every command loads; elsewhere a literal costs nobody who does not use it
 */
export function latePatterns(chunk) {
  return {
    name: "late-patterns",
    renderChunk: (code, { name }) => (name === chunk ? { code: withLatePatterns(code) } : null),
  };
}

/** @param {string} code of a chunk as rolldown writes it */
export function withLatePatterns(code) {
  let late = code;
  // From the last on, so that what stands before it keeps its place.
  for (const { start, end, regex } of patternsOf(parseAst(code)).reverse()) {
    const words = [regex.pattern, regex.flags].map((word) => JSON.stringify(word));
    late = `${late.slice(0, start)}new RegExp(${words.join(", ")})${late.slice(end)}`;
  }
  return late;
}

/** The literals below a node of a syntax tree that name such properties, in their order. */
function patternsOf(node) {
  if (typeof node !== "object" || node === null) return [];
  if (node.regex?.pattern.includes("\\p{")) return [node];
  return Object.values(node).flatMap(patternsOf);
}
