/**
 * Returns a group for rolldown's `codeSplitting`: these sources and our modules that they import statically,
 * in one chunk with the package code that they use. Split by shared use, it would be twenty chunks, and
 * each file costs a fast command 0.1 ms to find, open and compile.
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

/** Does not follow modules of packages: rolldown adds the used ones, and the index of a package names many unused ones. */
function ownClosureOf(roots, graph) {
  const closure = new Set(roots);
  // Iterating a Set also visits the entries that are added meanwhile.
  for (const id of closure) {
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? [])
      if (!imported.includes("node_modules")) closure.add(imported);
  }
  return closure;
}

/**
 * Returns a group of exactly these sources, with the package code that they use.
 * @param {string} name of the chunk
 * @param {string[]} sources absolute paths
 */
export function exactChunk(name, sources) {
  const inside = new Set(sources);
  return { debugName: name, name: (id) => (inside.has(id) ? name : null) };
}
