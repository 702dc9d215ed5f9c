/**
 * A group for rolldown's `codeSplitting`: these sources and all of ours that they import statically, in one chunk with
 * what they use of packages. Cut by who shares what it would be twenty, and to find, open and compile a file costs a cold
 * command 0.1 ms.
 * @param {string} name of the chunk
 * @param {string[]} roots absolute paths
 */
export function coldChunk(name, roots) {
  let inside;
  return {
    debugName: name,
    name: (id, graph) => {
      inside ??= ownClosureOf(roots, graph);
      return inside.has(id) ? name : null;
    },
  };
}

/** A package's modules are not followed: rolldown adds those that are used, and an index names many that are not. */
function ownClosureOf(roots, graph) {
  const closure = new Set(roots);
  // A Set's walk meets what is added on the way.
  for (const id of closure) {
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? [])
      if (!imported.includes("node_modules")) closure.add(imported);
  }
  return closure;
}
