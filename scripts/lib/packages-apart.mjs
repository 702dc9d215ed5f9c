import path from "node:path";
import { rolldown } from "rolldown";

/** blessed reads files in the directory of its package, so it stays a dependency. */
const NOT_BUNDLED = /^blessed($|\/)/;

/**
 * Packages in separate files below dist/packages, by the name of each file. Together with our code they would pull parts of zod into
 * every command; each is loaded by an `import()`.
 */
const APART = {
  "@agentclientprotocol/sdk": "acp-sdk",
  "@modelcontextprotocol/client": "mcp-client",
  "@modelcontextprotocol/client/stdio": "mcp-client-stdio",
  "@modelcontextprotocol/server": "mcp-server",
  "@modelcontextprotocol/server/stdio": "mcp-server-stdio",
};

/** Modules that the bundles of our code do not contain. */
export const EXTERNAL = new RegExp(
  `${NOT_BUNDLED.source}|^(${Object.keys(APART).join("|").replaceAll("/", "\\/")})$`,
);

/**
 * Bundles these packages as separate ES modules, which share their common parts.
 * @param {string} root of the checkout
 * @param {string} dir the directory of the output
 * @returns the file of each package below `dir`, and the ids of all modules
 */
export async function bundlePackages(root, dir) {
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(Object.entries(APART).map(([id, name]) => [name, id])),
    platform: "node",
    logLevel: "warn",
  });
  const { output } = await build.write({
    dir,
    format: "es",
    // With a hash, so that a running program still finds the file of its build.
    entryFileNames: "packages/[name]-[hash].mjs",
    chunkFileNames: "packages/[name]-[hash].mjs",
    comments: { legal: true, annotation: false, jsdoc: false },
  });
  await build.close();
  const files = Object.entries(APART).map(([id, name]) => {
    const entry = output.find((chunk) => chunk.isEntry && chunk.name === name);
    if (entry === undefined) throw new Error(`The bundle of ${id} has no file.`);
    return [id, entry.fileName];
  });
  return { files: Object.fromEntries(files), modules: modulesOf(output) };
}

/**
 * Returns a rolldown plugin that makes our code import the packages from their files.
 * @param {Record<string, string>} files by the name of the package, relative to the directory of the output
 */
export function importsFrom(files) {
  return {
    name: "packages-apart",
    renderChunk: (code, { fileName }) => ({
      code: code.replaceAll(/\bimport\("([^"]+)"\)/g, (whole, id) => {
        if (files[id] === undefined) return whole;
        const file = path.posix.relative(path.posix.dirname(fileName), files[id]);
        return `import("${file.startsWith(".") ? file : `./${file}`}")`;
      }),
    }),
  };
}

/** Returns the ids of all modules in a bundle. */
export function modulesOf(output) {
  return output.flatMap((chunk) => (chunk.type === "chunk" ? chunk.moduleIds : []));
}
