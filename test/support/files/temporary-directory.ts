import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { removeTree } from "./remove-tree.ts";

/** Creates a directory that is removed after the test. */
export function temporaryDirectory(prefix = "tt-"): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  onTestFinished(() => removeTree(path));
  return path;
}
