import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** Random lines that a version of the parser must pass, in all shells together. */
export const REQUIRED_LINES = 1_000_000;

/** The parser of command lines that passed the random lines. */
export interface CheckedParser {
  readonly version: string;
  /** Checksum of the package, so that no other content of this version counts as checked. */
  readonly integrity: string;
  readonly lines: number;
}

interface Manifest {
  readonly version: string;
  readonly devDependencies: Readonly<Record<string, string>>;
}

const CHECKED = "test/attack/checked-parser.json";

const pathOf = (file: string): string => fileURLToPath(new URL(`../../../${file}`, import.meta.url));
const json = (file: string): never => JSON.parse(readFileSync(pathOf(file), "utf8")) as never;

/** Reads the record of the last complete run. */
export function checkedParser(): CheckedParser {
  return json(CHECKED);
}

/** Reads the parser's version and checksum from package-lock.json, and the versions that other files name. */
export function currentParser() {
  const { packages } = json("package-lock.json") as {
    readonly packages: Readonly<Record<string, Manifest & { readonly integrity: string }>>;
  };
  const { version = "none", integrity = "none" } = packages["node_modules/unbash"] ?? {};
  const versions = {
    "package.json": (json("package.json") as Manifest).devDependencies.unbash,
    "the root of package-lock.json": packages[""]?.devDependencies.unbash,
    "package-lock.json": version,
    node_modules: (json("node_modules/unbash/package.json") as Manifest).version,
  };
  return { version, integrity, versions };
}

/** Records that the installed parser passed. @throws Error if its version is not the one in package-lock.json */
export function recordCheckedParser(lines: number): void {
  const { version, integrity, versions } = currentParser();
  if (versions.node_modules !== version)
    throw new Error(
      `unbash ${versions.node_modules} is installed, not ${version}; nothing was recorded. Run npm ci, then try again.`,
    );
  const checked: CheckedParser = { version, integrity, lines };
  writeFileSync(pathOf(CHECKED), `${JSON.stringify(checked, undefined, 2)}\n`);
}
