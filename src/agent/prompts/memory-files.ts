import { dirname, join, resolve } from "node:path";
import { isSystemError } from "../../errors.ts";
import { isDirectory } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/real-path.ts";
import { isInside } from "../permissions/protected-paths.ts";
import { readTextFile } from "../tools/text-file.ts";

/** A file of standing notes to every agent. */
interface MemoryFile {
  readonly path: string;
  readonly text: string;
}

interface MemoryFiles {
  /** The user's first, then from the project's top down to the working directory. */
  readonly files: readonly MemoryFile[];
  /** One sentence for each that was not read as it asks for. */
  readonly problems: readonly string[];
}

/**
 * Whether a rule of the user's keeps a file from a model that would read it before any call of a tool.
 * @param base where a rule's relative pattern starts, beside the working directory
 */
export type IsReadDenied = (path: string, base: string) => boolean;

const NAMES = ["CLAUDE.md", join(".claude", "CLAUDE.md"), "AGENTS.md", "CLAUDE.local.md"];
/** How far a file may name a file that names a file. */
const MAX_DEPTH = 5;
/** Files that are read at most, and characters of all together: every call of the model pays for them. */
const MAX_FILES = 50;
const MAX_CHARACTERS = 200_000;

/**
 * The memory files that count in a directory: the root's own, and those of the project from its top (the directory with
 * `.git`, else the working directory itself) down. A line's `@path` (`~/` is at home) brings that file in too, from inside of the project or
 * the root only: a repository's notes must not be able to read the user's keys to a model. What a rule keeps from being read
 * is left out, however it is named.
 */
export function loadMemory(
  { root, cwd, home }: { readonly root: string; readonly cwd: string; readonly home: string | undefined },
  isKeptBack: IsReadDenied,
): MemoryFiles {
  const reading = new MemoryReader(isKeptBack, home);
  reading.add(join(root, "CLAUDE.md"), root);
  const top = projectTop(cwd);
  for (const directory of pathDown(top, cwd))
    for (const name of NAMES) reading.add(join(directory, name), top);
  return { files: reading.files, problems: reading.problems };
}

class MemoryReader {
  readonly files: MemoryFile[] = [];
  readonly problems: string[] = [];
  readonly #seen = new Set<string>();
  readonly #isKeptBack: IsReadDenied;
  readonly #home: string | undefined;
  #characters = 0;

  constructor(isKeptBack: IsReadDenied, home: string | undefined) {
    this.#isKeptBack = isKeptBack;
    this.#home = home;
  }

  /** @param inside no file out of this directory is read on the account of this one */
  add(path: string, inside: string, namedBy?: string, depth = 0): void {
    const real = this.#allowed(path, inside, namedBy);
    if (real === undefined || this.#seen.has(real)) return;
    const file = readTextFile(real);
    if (file.flaw === undefined && this.#isKeptBack(path, inside)) {
      this.problems.push(`${namedBy ?? path}: a rule for Read keeps ${path} back, so it is not read.`);
      return;
    }
    this.#seen.add(real);
    if (file.flaw !== undefined) {
      if (!file.missing || namedBy !== undefined) this.problems.push(`${namedBy ?? path}: ${file.flaw}`);
      return;
    }
    this.#characters += file.text.length;
    if (this.files.length === MAX_FILES || this.#characters > MAX_CHARACTERS) {
      this.problems.push(`${path}: left out, since the notes before it are as long as they may be.`);
      return;
    }
    this.files.push({ path, text: file.text.trim() });
    if (depth === MAX_DEPTH) return;
    for (const named of namedIn(file.text)) {
      const other = this.#resolved(named, path);
      // `@param`, `@team-lead`, `@scope/package`: a word that names no file is just a word.
      if (looksLikeFile(named) || isReadable(other)) this.add(other, inside, path, depth + 1);
    }
  }

  #resolved(named: string, by: string): string {
    return this.#home !== undefined && named.startsWith("~/")
      ? join(this.#home, named.slice(2))
      : resolve(dirname(by), named);
  }

  /** Its real path, where it may be read. */
  #allowed(path: string, inside: string, namedBy: string | undefined): string | undefined {
    try {
      const real = realPathOf(path);
      if (isInside(real, realPathOf(inside))) return real;
      this.problems.push(`${namedBy ?? path}: ${path} is outside of ${inside}, so it is not read.`);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      this.problems.push(`${namedBy ?? path}: ${path} cannot be followed.`);
    }
    return undefined;
  }
}

/** What a text names with `@path` at a word's start, outside of code. */
function namedIn(text: string): string[] {
  const prose = text.replace(/^(```|~~~)[\s\S]*?^\1/gm, "").replace(/`[^`\n]*`/g, "");
  const found = [...prose.matchAll(/(?:^|\s)@((?:~\/|\.{0,2}\/)?[\w.-](?:[\w./-]*\w)?)/g)];
  return found.map(([, path = ""]) => path);
}

/** With an ending, or from home: nothing else is written so. */
function looksLikeFile(named: string): boolean {
  return named.startsWith("~/") || /[\w-]\.\w+$/.test(named);
}

function isReadable(path: string): boolean {
  try {
    return readTextFile(path).flaw === undefined;
  } catch (error) {
    // Too long for a name, a loop of links, another's file.
    if (!isSystemError(error)) throw error;
    return false;
  }
}

function projectTop(cwd: string): string {
  for (let at = cwd; ; at = dirname(at)) {
    if (isDirectory(join(at, ".git")) || readTextFile(join(at, ".git")).flaw === undefined) return at;
    if (at === dirname(at)) return cwd;
  }
}

/** The directories from the top down to the lower one. */
function pathDown(top: string, lower: string): string[] {
  const way = [lower];
  for (let at = lower; at !== top && at !== dirname(at); at = dirname(at)) way.unshift(dirname(at));
  return way;
}

/** As a section of the system prompt; undefined where there is nothing to say. */
export function memorySection(files: readonly MemoryFile[]): string | undefined {
  const texts = files.filter(({ text }) => text !== "");
  if (texts.length === 0) return undefined;
  const parts = texts.map(({ path, text }) => fenced(path, text));
  return `# Standing notes\n\nWhat the user and the project want every agent to know and keep to.\n\n${parts.join("\n\n")}`;
}

/** A file in a system prompt: where it ends is plain, whatever headings it has; no text of it can end it sooner. */
export function fenced(path: string, text: string): string {
  const name = path.replace(/["<>&]/g, (sign) => `&#${sign.charCodeAt(0)};`);
  return `<file path="${name}">\n${text.replace(/<(\/?file)\b/gi, "&lt;$1")}\n</file>`;
}
