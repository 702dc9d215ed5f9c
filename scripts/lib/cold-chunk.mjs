/**
 * Returns a group for rolldown's `codeSplitting`: these sources and our modules that they import statically,
 * in one chunk with the code that they use of packages. Split by shared use it would be twenty chunks, and
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

/** Modules of packages are not followed: rolldown adds the used ones, and an index names many unused ones. */
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
 * Returns a group of exactly these sources, with the code that they use of packages.
 * @param {string} name of the chunk
 * @param {string[]} sources absolute paths
 */
export function exactChunk(name, sources) {
  const inside = new Set(sources);
  return { debugName: name, name: (id) => (inside.has(id) ? name : null) };
}
