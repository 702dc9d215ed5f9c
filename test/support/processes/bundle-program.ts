import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/**
 * Bundles a program of test/support as the product is bundled, in a directory where it finds the product's
 * packages.
 */
export async function bundleProgram(source: string, directory: string): Promise<string> {
  const build = await rolldown({
    cwd: ROOT,
    input: { program: source },
    platform: "node",
    external: /^blessed($|\/)/,
    logLevel: "warn",
  });
  await build.write({
    dir: directory,
    format: "cjs",
    entryFileNames: "[name].cjs",
    chunkFileNames: "chunk-[hash].cjs",
  });
  await build.close();
  symlinkSync(join(ROOT, "node_modules"), join(directory, "node_modules"));
  return join(directory, "program.cjs");
}
