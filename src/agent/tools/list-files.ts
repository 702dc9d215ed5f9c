import { isAbsolute, join } from "node:path";
import picomatch from "picomatch";
import type { Env } from "../../os/env.ts";
import { pathStat } from "../../os/files/user-files.ts";
import { byteText, pathOf, walkFiles } from "../../os/files/walk.ts";
import { run } from "../../os/process/run.ts";
import type { SearchGaps } from "./search-gaps.ts";

/** Maximum files of one listing; more than in any repository that is searched without a narrower path. */
const MAX_FILES = 200_000;
const LIMIT_NOTE = `only the first ${MAX_FILES} files were searched; give a narrower path`;
const SKIPPED: ReadonlySet<string> = new Set([".git", "node_modules"]);

interface ListContext {
  readonly env: Env;
  readonly signal: AbortSignal;
  /** Receives the files and directories that the listing leaves out. */
  readonly gaps?: SearchGaps | undefined;
}

/** A file below a listed directory. */
export interface ListedFile {
  /** Its relative path; U+FFFD stands for each byte that is not UTF-8. */
  readonly name: string;
  /** Its absolute path. */
  readonly path: string | Buffer;
}

/**
 * Returns the files below a directory, sorted by their relative paths: in a git repository all files that are tracked or not
 * ignored, elsewhere all except those in `.git` and `node_modules`.
 */
export async function listFiles(directory: string, context: ListContext): Promise<readonly ListedFile[]> {
  const names = await namesBelow(byteText(directory), directory, context);
  return names.map((name) => {
    const inner = pathOf(name);
    return { name: String(inner), path: pathIn(directory, inner) };
  });
}

function pathIn(directory: string, path: string | Buffer): string | Buffer {
  return typeof path === "string"
    ? join(directory, path)
    : Buffer.concat([Buffer.from(join(directory, "/")), path]);
}

/** @param top the byte text of the directory @returns byte texts */
async function namesBelow(top: string, directory: string, context: ListContext): Promise<readonly string[]> {
  const { gaps, signal } = context;
  const onLimit = (): void => gaps?.add(LIMIT_NOTE);
  const onUnreadable = (path: string): void => gaps?.addUnreadable(path);
  const walk = (path: string): Promise<string[]> =>
    walkFiles(path, { skip: SKIPPED, limit: MAX_FILES, signal, onUnreadable, onLimit });
  const known = await gitFiles(directory, context);
  // No repository, or a directory that git ignores but the caller asked for.
  if (known === undefined || known.length === 0) return walk(top);
  const files = new Set<string>();
  for (const name of known) {
    // git lists a nested repository as a directory.
    if (name.endsWith("/")) for (const inner of await walk(join(top, name))) files.add(join(name, inner));
    else files.add(name);
  }
  if (files.size > MAX_FILES) onLimit();
  return [...files].sort().slice(0, MAX_FILES);
}

/** Added to results with names in the form of {@link shellBytes}. */
export const BYTES_NOTE =
  "(A name in $'…' is not valid UTF-8: Bash can use the name as it is shown, Read and Edit cannot.)";

/**
 * The directory and its git configuration are not trusted: git must run no program from it, fetch nothing, and not use a
 * bare repository among the files.
 */
const READ_ONLY_SETTINGS = ["core.fsmonitor=false", "safe.bareRepository=explicit"];
/** Before git 2.45, only the lack of a protocol prevents a fetch: a repository's own setting wins over `protocol.allow`. */
const NO_FETCH = { GIT_NO_LAZY_FETCH: "1", GIT_ALLOW_PROTOCOL: "", GIT_TERMINAL_PROMPT: "0" };

/** Matches git's English warning about a directory that it cannot open. The path is relative to the top of the worktree. */
const UNOPENED = /^warning: could not open directory '(.+?)\/?': [^:]*$/gm;

/** @returns byte texts; undefined outside a repository */
async function gitFiles(
  directory: string,
  { env, signal, gaps }: ListContext,
): Promise<string[] | undefined> {
  const settings = READ_ONLY_SETTINGS.flatMap((setting) => ["-c", setting]);
  const own = { ...env, ...NO_FETCH, LC_ALL: "C" };
  const how = { cwd: directory, env: own, signal, encoding: "latin1" } as const;
  const args = [...settings, "ls-files", "-z", "--cached", "--others", "--exclude-standard"];
  const { code, stdout, stderr } = await run("git", args, how);
  signal.throwIfAborted();
  if (code !== 0) return undefined;
  const unopened = [...stderr.matchAll(UNOPENED)].map(([, path = ""]) => path);
  if (gaps !== undefined && unopened.length > 0) {
    const { stdout: prefix } = await run("git", [...settings, "rev-parse", "--show-prefix"], how);
    const top = prefix.replace(/\n$/, "");
    for (const path of unopened) {
      // git names the listed directory itself without a slash at the end.
      const below = `${path}/`.startsWith(top) ? path.slice(top.length) : path;
      gaps.addUnreadable(join(directory, String(pathOf(below))));
    }
  }
  return stdout.split("\0").filter((name) => name !== "");
}

/** Splits a glob that leads outside the directory into its fixed directory and the rest. */
export function splitGlob(pattern: string, directory: string): { directory: string; glob: string } {
  const { base, glob } = picomatch.scan(pattern);
  if (glob === "") return { directory, glob: pattern };
  const outside = isAbsolute(base) || base === ".." || base.startsWith("../");
  return outside
    ? { directory: join(isAbsolute(base) ? "/" : directory, base), glob }
    : { directory, glob: pattern };
}

/** Returns a filter for paths as in gitignore: a glob without a slash matches the base name. */
export function fileFilter(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true;
  return picomatch(glob.includes("/") ? glob.replace(/^\//, "") : `**/${glob}`, { dot: true });
}

export function isFile(path: string): boolean {
  return pathStat(path).kind === "file";
}

/** File name endings by file type, with the type names of ripgrep. */
const ENDINGS: Readonly<Record<string, string>> = {
  c: "c h",
  cpp: "cpp cc cxx hpp hh hxx h inl",
  csharp: "cs",
  css: "css scss sass less",
  elixir: "ex exs eex",
  go: "go",
  haskell: "hs lhs",
  html: "html htm ejs",
  java: "java jsp properties",
  js: "js jsx mjs cjs vue",
  json: "json jsonc jsonl",
  kotlin: "kt kts",
  lua: "lua",
  md: "md markdown mdx",
  php: "php",
  py: "py pyi",
  ruby: "rb gemspec rake",
  rust: "rs",
  sh: "sh bash zsh ksh fish",
  sql: "sql",
  swift: "swift",
  toml: "toml",
  ts: "ts tsx mts cts",
  xml: "xml xsd xsl svg",
  yaml: "yaml yml",
};

/** The names of all file types. */
export const FILE_TYPES: readonly string[] = Object.keys(ENDINGS);

/** Returns a glob for a file type; undefined for an unknown type. */
export function globOfType(type: string): string | undefined {
  const endings = Object.hasOwn(ENDINGS, type) ? ENDINGS[type] : undefined;
  if (endings === undefined) return undefined;
  const all = endings.split(" ");
  return all.length === 1 ? `*.${all[0]}` : `*.{${all.join(",")}}`;
}
