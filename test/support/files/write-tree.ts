import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/**
 * Writes files by their paths below a directory; a text `-> path` creates a link to that path in the
 * directory.
 */
export function writeTree(top: string, texts: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(texts)) {
    const path = join(top, name);
    mkdirSync(dirname(path), { recursive: true });
    if (text.startsWith("-> ")) symlinkSync(join(top, text.slice(3)), path);
    else writeFileSync(path, text);
  }
}
