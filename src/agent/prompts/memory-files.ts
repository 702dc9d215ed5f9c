import { dirname, join, resolve } from "node:path";
import { isSystemError, messageOf } from "../../errors.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { isInside } from "../permissions/protected-paths.ts";
import { readTextFile } from "../tools/text-file.ts";

/** A file with standing notes for all agents. */
interface MemoryFile {
  readonly path: string;
  readonly text: string;
}

interface MemoryFiles {
  /** The user's first, then from the project's top down to the working directory. */
  readonly files: readonly MemoryFile[];
  /** One sentence for each file that was not loaded. */
  readonly problems: readonly string[];
}

/**
 * Returns whether a rule denies a file that would be loaded into a model's prompt.
 * @param base another directory, besides the working directory, where relative patterns of rules start
 */
export type IsReadDenied = (path: string, base: string) => boolean;

const NAMES = ["CLAUDE.md", join(".claude", "CLAUDE.md"), "AGENTS.md", "CLAUDE.local.md"];
/** Maximum depth of imports. */
const MAX_DEPTH = 5;
/** Maximum number of files and of their characters together, because each model call pays for them. */
const MAX_FILES = 50;
const MAX_CHARACTERS = 200_000;

/**
 * Loads the memory files for a directory: the root's file, and the project's files from its top directory (the one with `.git`,
 * else the working directory) down. A word `@path` (`~/` is home) imports that file.
 *
 * The notes of a repository must not send the user's keys to a model. So a project's files are loaded only from inside the
 * project, with links resolved; without trust, an import only from below the directory of the file that names it. The home
 * directory and its parents are not a project: notes there import nothing. A file that a rule denies is left out, under any name.
 */
export function loadMemory(
  { root, cwd, home, isTrusted }: MemoryPlace,
  isReadDenied: IsReadDenied,
): MemoryFiles {
  const reader = new MemoryReader(isReadDenied, home);
  reader.add(join(root, "CLAUDE.md"), { base: root, inside: root, imports: "inside", isOwn: true });
  const above = home === undefined ? [] : withLinksResolved(home);
  const isHome = (directory: string): boolean =>
    withLinksResolved(directory).some((path) => above.some((one) => isInside(one, path)));
  const top = projectTop(cwd, isHome);
  for (const directory of pathDown(top, cwd)) {
    const imports = isHome(directory) ? "none" : isTrusted ? "inside" : "below";
    const reach: Reach = { base: top, inside: imports === "inside" ? top : directory, imports };
    for (const name of NAMES) reader.add(join(directory, name), reach);
  }
  return { files: reader.files, problems: reader.problems };
}

interface MemoryPlace {
  readonly root: string;
  readonly cwd: string;
  readonly home: string | undefined;
  /** Whether the user trusts the directory. */
  readonly isTrusted: boolean;
}

/** The allowed places of a file and its imports. */
interface Reach {
  /** Where relative patterns of rules start. */
  readonly base: string;
  /** The directory that must contain them all: with links resolved, except the user's own files, which may be links to anywhere. */
  readonly inside: string;
  readonly isOwn?: true;
  /** `inside`: every file of that directory; `below`: files below the directory of the file that names them. */
  readonly imports: "inside" | "below" | "none";
}

/** Returns a directory as named and as resolved: `$HOME` often is a link. */
function withLinksResolved(directory: string): string[] {
  try {
    return [directory, realPathOf(directory)];
  } catch (error) {
    if (isSystemError(error)) return [directory];
    throw error;
  }
}

class MemoryReader {
  readonly files: MemoryFile[] = [];
  readonly problems: string[] = [];
  readonly #seen = new Set<string>();
  readonly #isReadDenied: IsReadDenied;
  readonly #home: string | undefined;
  #characters = 0;

  constructor(isReadDenied: IsReadDenied, home: string | undefined) {
    this.#isReadDenied = isReadDenied;
    this.#home = home;
  }

  /** Loads a file and its imports, within their reach. */
  add(path: string, reach: Reach, namedBy?: string, depth = 0): void {
    const real = this.#allowed(path, reach, namedBy);
    if (real === undefined || this.#seen.has(real)) return;
    const file = this.#read(real, path, namedBy);
    if (file === undefined) return;
    if (file.problem === undefined && this.#isReadDenied(path, reach.base)) {
      this.problems.push(`${namedBy ?? path}: a rule for Read denies ${path}, so it is not loaded.`);
      return;
    }
    this.#seen.add(real);
    if (file.problem !== undefined) {
      if (!file.missing || namedBy !== undefined) this.problems.push(`${namedBy ?? path}: ${file.problem}`);
      return;
    }
    this.#characters += file.text.length;
    if (this.files.length === MAX_FILES || this.#characters > MAX_CHARACTERS) {
      this.problems.push(`${path}: left out, because the notes before it reach the size limit.`);
      return;
    }
    this.files.push({ path, text: file.text.trim() });
    if (depth === MAX_DEPTH) return;
    for (const named of namedIn(file.text)) this.#import(named, reach, path, depth + 1);
  }

  /** @returns undefined if the system does not let this user read the file */
  #read(real: string, path: string, namedBy = path): ReturnType<typeof readTextFile> | undefined {
    try {
      return readTextFile(real);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      this.#seen.add(real);
      this.problems.push(`${namedBy}: ${path} cannot be read (${messageOf(error)}).`);
      return undefined;
    }
  }

  #import(named: string, reach: Reach, by: string, depth: number): void {
    const path = this.#resolved(named, by);
    // `@param`, `@team-lead` and `@scope/package` are not imports if they name no file.
    if (!looksLikeFile(named) && !isReadable(path)) return;
    if (reach.imports === "none") {
      this.problems.push(`${by}: ${path} is not loaded, because notes in the home directory import nothing.`);
      return;
    }
    const inside = reach.imports === "below" ? dirname(by) : reach.inside;
    this.add(path, { ...reach, inside }, by, depth);
  }

  #resolved(named: string, by: string): string {
    return this.#home !== undefined && named.startsWith("~/")
      ? join(this.#home, named.slice(2))
      : resolve(dirname(by), named);
  }

  /** Returns the resolved path of a file; undefined if it must not be read. */
  #allowed(path: string, { inside, isOwn }: Reach, namedBy: string | undefined): string | undefined {
    try {
      const real = realPathOf(path);
      if (isInside(real, realPathOf(inside)) || (isOwn && isInside(path, inside))) return real;
      this.problems.push(`${namedBy ?? path}: ${path} is outside ${inside}, so it is not loaded.`);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      this.problems.push(`${namedBy ?? path}: links of ${path} cannot be resolved (${messageOf(error)}).`);
    }
    return undefined;
  }
}

/** Returns the paths that a text imports with `@path` at the start of a word, outside code. */
function namedIn(text: string): string[] {
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, "").replace(/`[^`\n]*`/g, "");
  const found = [...prose.matchAll(/(?:^|\s)@((?:~\/|\.{0,2}\/)?[\w.-](?:[\w./-]*\w)?)/g)];
  return found.map(([, path = ""]) => path);
}

/** Returns whether a word is clearly a path: it has a file extension or begins with `~/`. */
function looksLikeFile(named: string): boolean {
  return named.startsWith("~/") || /[\w-]\.\w+$/.test(named);
}

function isReadable(path: string): boolean {
  try {
    return readTextFile(path).problem === undefined;
  } catch (error) {
    // For example, the name is too long, links form a loop, or the file belongs to another user.
    if (!isSystemError(error)) throw error;
    return false;
  }
}

function projectTop(cwd: string, isHome: (directory: string) => boolean): string {
  for (let at = cwd; !isHome(at); at = dirname(at)) {
    if (isDirectory(join(at, ".git")) || isReadable(join(at, ".git"))) return at;
    if (at === dirname(at)) break;
  }
  return cwd;
}

/** Returns the directories from the top directory down to the lower one, both included. */
function pathDown(top: string, lower: string): string[] {
  const directories = [lower];
  for (let at = lower; at !== top && at !== dirname(at); at = dirname(at)) directories.unshift(dirname(at));
  return directories;
}

/** Returns a section of the system prompt; undefined if all files are empty. */
export function memorySection(files: readonly MemoryFile[]): string | undefined {
  const texts = files.filter(({ text }) => text !== "");
  if (texts.length === 0) return undefined;
  const parts = texts.map(({ path, text }) => fenced(path, text));
  return `# Standing notes\n\nInstructions of the user and the project for every agent.\n\n${parts.join("\n\n")}`;
}

/** Wraps a file for a system prompt. The end tag marks its end, and no text inside the file can contain that tag. */
export function fenced(path: string, text: string): string {
  const name = path.replace(/["<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<file path="${name}">\n${text.replace(/<(\/?file)\b/gi, "&lt;$1")}\n</file>`;
}
