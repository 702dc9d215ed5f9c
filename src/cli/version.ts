import { dirname, join } from "node:path";
import { readText } from "../os/files/fs.ts";
import type { Io } from "../terminal/io.ts";

/** Returns the version of the running program, from the manifest of its package. */
export function programVersion({ program }: Pick<Io, "program">): string {
  const [, script = ""] = program;
  const manifest = readText(join(dirname(script), "..", "package.json"));
  return manifest === undefined ? "(unknown version)" : parseManifest(manifest).version;
}

function parseManifest(text: string): { readonly version: string } {
  return JSON.parse(text) as { readonly version: string };
}
