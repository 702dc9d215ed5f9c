import { readFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";

/** Helpers that start tmux, terminals or whole teams: a test that imports one needs most of the machine. */
const COSTLY_HELPERS = /^test\/support\/(cli|storm|terminal|tmux)\//;
/** Folders whose tests start these without the helpers, or kill processes at chosen moments. */
const COSTLY_FOLDERS = /^test\/(e2e|storm|integration\/team\/crash-safety)\//;

/** The test files that run few at a time, and those that run in as many workers as there are processors. */
export interface Lanes {
  readonly sequential: readonly string[];
  readonly parallel: readonly string[];
}

/** Sorts test files into lanes by their imports. @param files relative to the checkout */
export function lanesOf(root: string, files: readonly string[]): Lanes {
  const imports = new Map<string, readonly string[]>();
  const reaches = (file: string, seen: Set<string>): boolean => {
    if (COSTLY_HELPERS.test(file)) return true;
    if (seen.has(file)) return false;
    seen.add(file);
    const direct = imports.get(file) ?? testImports(root, file);
    imports.set(file, direct);
    return direct.some((other) => reaches(other, seen));
  };
  const isSequential = (file: string): boolean => COSTLY_FOLDERS.test(file) || reaches(file, new Set());
  return {
    sequential: files.filter(isSequential),
    parallel: files.filter((file) => !isSequential(file)),
  };
}

/** Returns the files below test/ that a file imports, except for imports of types only. */
function testImports(root: string, file: string): readonly string[] {
  const text = readFileSync(resolve(root, file), "utf8");
  const found = text.matchAll(/^(?:import|export)\s+(?!type\b)(?:[^;]*?from )?"(\.[^"]+\.ts)"/gm);
  return [...found]
    .map(([, path = ""]) => relative(root, resolve(root, dirname(file), path)))
    .filter((path) => path.startsWith("test/"));
}
