import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Program } from "./program.ts";

/** An installed program. */
export interface Installed {
  readonly id: string;
  readonly version: string;
  /** The directories of its command and, if the program needs a newer Node.js, of that Node.js. */
  readonly bins: readonly string[];
}

/** Installs a program below the cache directory, unless it is already installed. @throws Error if npm fails */
export function install(program: Program, cache: string): Installed {
  const version = versionOf(program, cache);
  const directory = join(cache, `${nameOf(program)}-${version}`);
  add(`${program.package}@${version}`, directory);
  const bins = [join(directory, "node_modules/.bin"), ...newerNode(program, cache)];
  return { id: program.id, version, bins };
}

/** Installs Node.js from an npm package for a program that does not run on the Node.js of this process. */
function newerNode({ node }: Program, cache: string): string[] {
  if (node === undefined || node <= Number(process.versions.node.split(".")[0])) return [];
  const name = `node-linux-${process.arch}`;
  const directory = join(cache, `node-${node}`);
  add(`${name}@${node}`, directory);
  return [join(directory, "node_modules", name, "bin")];
}

/** Installs a package into a separate directory, unless it is already installed. */
function add(what: string, directory: string): void {
  if (existsSync(join(directory, "node_modules"))) return;
  const unfinished = `${directory}.new`;
  rmSync(unfinished, { recursive: true, force: true });
  mkdirSync(unfinished, { recursive: true });
  writeFileSync(join(unfinished, "package.json"), "{}");
  console.error(`Installing ${what} ...`);
  npm(["install", "--no-audit", "--no-fund", "--loglevel=error", what], unfinished);
  rmSync(directory, { recursive: true, force: true });
  renameSync(unfinished, directory);
}

/** Resolves an npm tag to its version; if the registry does not answer, returns the newest version in the cache. */
function versionOf(program: Program, cache: string): string {
  if (/^\d/.test(program.version)) return program.version;
  try {
    const version = npm(["view", `${program.package}@${program.version}`, "version"], cache).trim();
    console.error(`${program.package} ${program.version} is ${version}.`);
    return version;
  } catch (error) {
    const prefix = `${nameOf(program)}-`;
    const kept = readdirSync(cache).filter((name) => name.startsWith(prefix) && !name.endsWith(".new"));
    const newest = kept
      .map((name) => name.slice(prefix.length))
      // For claude, this leaves out claude-agent-acp.
      .filter((version) => /^\d/.test(version))
      .sort(byNumbers)
      .at(-1);
    if (newest === undefined) throw error;
    console.error(`The npm registry does not answer; using ${program.package} ${newest} from the cache.`);
    return newest;
  }
}

function nameOf({ package: name }: Program): string {
  const known: Readonly<Record<string, string>> = { "claude-code": "claude", "gemini-cli": "gemini" };
  const short = name.split("/").at(-1) ?? name;
  return known[short] ?? short.replace(/-(ai|code)$/, "");
}

/** Orders versions. */
export const byNumbers = (a: string, b: string): number => a.localeCompare(b, "en", { numeric: true });

function npm(words: readonly string[], cwd: string): string {
  return execFileSync("npm", words, {
    cwd,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 600_000,
  });
}

/**
 * Returns the directories of the packages that the built program needs at run time. They are copied, because the unprivileged user
 * may not be able to read the checkout.
 * @throws Error if npm lists no package
 */
export function runtimePackages(checkout: string): readonly string[] {
  const words = ["ls", "--omit=dev", "--all", "--parseable"];
  const listed = npm(words, checkout).trim().split("\n").slice(1);
  if (listed.length === 0) throw new Error(`npm ls lists no packages in ${checkout}; run npm ci there.`);
  return listed.filter((directory) => readFileSync(join(directory, "package.json"), "utf8") !== "");
}
