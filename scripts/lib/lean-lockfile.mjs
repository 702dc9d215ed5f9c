/** The replacements in the bundle, as CommonJS, by the names that the package `proper-lockfile` requires. */
const INSTEAD = {
  // It patches node:fs for the whole process. os/files/lock-directory.ts passes the functions that the package calls.
  "graceful-fs": "module.exports = {};",
  // It listens to every fatal signal, which changes how signals end the process. Locks of a killed process are stale at once.
  "signal-exit": 'module.exports = (callback) => process.once("exit", callback);',
  // The synchronous lock allows no retries; without them the first error is the main one.
  retry: `exports.operation = () => {
    let first;
    return {
      attempt: (run) => run(),
      retry: (error) => { first = error; return false; },
      mainError: () => first,
    };
  };`,
};
const PREFIX = "\0lean-lockfile:";

/** In a program that uses the library, the package does not listen to the end of the process either. */
const SILENT = { "signal-exit": "module.exports = () => undefined;" };

/**
 * Returns a rolldown plugin that bundles `proper-lockfile` without the dependencies that change the whole process or are not used.
 * @param {{ silent?: boolean }} [options] `silent`: the package adds no listener at all
 */
export function leanLockfile({ silent = false } = {}) {
  const instead = silent ? { ...INSTEAD, ...SILENT } : INSTEAD;
  return {
    name: "lean-lockfile",
    resolveId: (id, importer) => {
      const isOfPackage = /[\\/]proper-lockfile[\\/]lib[\\/]/.test(importer ?? "");
      return isOfPackage && id in instead ? PREFIX + id : undefined;
    },
    load: (id) => (id.startsWith(PREFIX) ? instead[id.slice(PREFIX.length)] : undefined),
  };
}
