import { basename, isAbsolute, join } from "node:path";
import { fileAccessError, isSystemError, TeamError } from "../../errors.ts";
import { type Env, platform } from "../../os/env.ts";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { isThere, markOf } from "../../os/files/file-parts.ts";
import { readText, removeFile } from "../../os/files/fs.ts";
import { encodingProblem, pathStat, writeUserFile } from "../../os/files/user-files.ts";
import { line } from "../../terminal/output.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import { SCRIPTS, SHELLS, type Shell } from "./scripts.ts";

/** A user file that shell completion needs. */
export interface CompletionFile {
  readonly path: string;
  /** `script`: the whole file is ours; `lines`: only our marked lines in the startup file of the shell. */
  readonly part: "script" | "lines";
  /** The whole script, or our marked lines. */
  readonly text: string;
}

/** The change of a file. */
export interface FileChange extends Pick<CompletionFile, "path" | "part"> {
  readonly change: "created" | "updated" | "removed" | "unchanged";
}

const BEGIN = "# >>> teams completion >>>";
const END = "# <<< teams completion <<<";

/** Returns the shell with this name, or that of a path such as `$SHELL`. */
export function shellOf(name: string | undefined): Shell | undefined {
  return SHELLS.find((known) => known === basename(name ?? ""));
}

/**
 * Returns the files of this user that make a shell complete `teams`. fish finds its script itself. bash and zsh source theirs
 * from marked lines in a startup file, so they need neither bash-completion nor a directory in `fpath`.
 */
export function completionFiles(shell: Shell, env: Env, system = platform): readonly CompletionFile[] {
  const home = homeDirectory(env);
  const below = (variable: string, otherwise: string): string => {
    const given = env[variable];
    return given && isAbsolute(given) ? given : join(home, otherwise);
  };
  const script = (path: string): CompletionFile => ({ path, part: "script", text: SCRIPTS[shell] });
  const lines = (path: string, text: string): CompletionFile => ({ path, part: "lines", text });
  const data = below("XDG_DATA_HOME", ".local/share");
  if (shell === "fish")
    return [script(join(below("XDG_CONFIG_HOME", ".config"), "fish/completions/teams.fish"))];
  if (shell === "zsh") {
    const path = join(data, "zsh/site-functions/_teams");
    // The script needs compdef.
    const init = "(( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i }";
    return [script(path), lines(join(below("ZDOTDIR", ""), ".zshrc"), sourceLines(path, [init]))];
  }
  const path = join(data, "bash-completion/completions/teams");
  // Terminals of macOS start login shells, which do not read ~/.bashrc.
  const start = system === "darwin" ? loginFile(home) : ".bashrc";
  // Other shells read .profile too.
  const isBash = start === ".profile" ? `[ "\${BASH##*/}" = bash ] && ` : "";
  return [script(path), lines(join(home, start), sourceLines(path, [], isBash))];
}

/** Returns the startup file of a login bash, which reads only the first that exists. */
function loginFile(home: string): string {
  const names = [".bash_profile", ".bash_login", ".profile"];
  return names.find((name) => isThere(join(home, name))) ?? ".bash_profile";
}

/** Returns marked lines that source a script if it exists. @param condition an additional shell test that ends in ` && ` */
function sourceLines(path: string, before: readonly string[], condition = ""): string {
  const file = shellQuote(path);
  const body = [...before, `source ${file}`].map((row) => `  ${row}`);
  return [BEGIN, `if ${condition}[ -r ${file} ]; then`, ...body, "fi", END, ""].join("\n");
}

/**
 * Writes the files. Idempotent; other lines of a startup file stay as they are.
 * @throws TeamError INVALID_INPUT if a file is not ours to replace; nothing was changed then. PERMISSION_DENIED or STORAGE_ERROR if one
 *   cannot be written or removed; the error names the files that were already changed
 */
export function installCompletion(files: readonly CompletionFile[]): readonly FileChange[] {
  return changeFiles(files, ({ part, text, path }, old) => {
    if (part === "script") return text;
    const { before, after, found } = splitLines(path, old ?? "");
    // New lines come last: they may need what the file sets up.
    const gap =
      found || before === "" || before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n";
    return `${before}${gap}${text}${after}`;
  });
}

/** Removes the scripts and our lines. Idempotent. @throws TeamError as {@link installCompletion} */
export function removeCompletion(files: readonly CompletionFile[]): readonly FileChange[] {
  // Remove the lines first: they source the script.
  return changeFiles(files.toReversed(), ({ part, path }, old) => {
    if (part === "script" || old === undefined) return undefined;
    const { before, after, found } = splitLines(path, old);
    return found ? `${before.replace(/\n\n$/, "\n")}${after}` : old;
  });
}

/** Computes the new text of all files before it changes the first one. @param next undefined removes the file */
function changeFiles(
  files: readonly CompletionFile[],
  next: (file: CompletionFile, old: string | undefined) => string | undefined,
): readonly FileChange[] {
  const planned = files.map((file) => {
    const old = readOwn(file);
    return { ...file, old, text: next(file, old) };
  });
  const changed: string[] = [];
  return planned.map(({ path, part, old, text }) => {
    if (text === old) return { path, part, change: "unchanged" };
    try {
      if (text === undefined) removeFile(path);
      else writeUserFile(path, markOf(path) + text);
    } catch (error) {
      const rest = changed.length === 0 ? "nothing was changed" : `already changed: ${changed.join(", ")}`;
      const verb = text === undefined ? "removed" : "written";
      throw isSystemError(error) ? fileAccessError(path, verb, error, `; ${rest}`) : error;
    }
    changed.push(path);
    if (old === undefined) return { path, part, change: "created" };
    const isGone = text === undefined || (part === "lines" && !text.includes(BEGIN));
    return { path, part, change: isGone ? "removed" : "updated" };
  });
}

/** @returns undefined if the file does not exist @throws TeamError INVALID_INPUT if it is not a file that we may write */
function readOwn({ path, part }: CompletionFile): string | undefined {
  const { kind } = pathStat(path);
  if (kind === "missing") return undefined;
  const text = kind === "file" ? readText(path) : undefined;
  if (text === undefined)
    throw refused(`${path} is not a regular file`, `Replace it with a file, or remove it.`);
  // Writing it back would lose the bytes that are not UTF-8.
  const encoding = encodingProblem(path, text);
  if (encoding !== undefined) {
    throw refused(
      `${path} ${encoding}`,
      "Convert it to UTF-8, or add the lines by hand. To print them: teams completion install --print",
    );
  }
  if (part === "script" && !text.includes("completion for teams, written by: teams completion")) {
    throw refused(
      `${path} was not written by teams`,
      `Move it away: mv ${shellQuote(path)} ${shellQuote(`${path}.old`)}`,
    );
  }
  return text;
}

/**
 * Splits a startup file at our lines; without them, the whole file is the part before.
 * @throws TeamError INVALID_INPUT if the lines are incomplete, doubled or in the wrong order
 */
function splitLines(
  path: string,
  text: string,
): { readonly before: string; readonly after: string; readonly found: boolean } {
  const begin = text.indexOf(BEGIN);
  const end = text.indexOf(END);
  if (begin === -1 && end === -1) return { before: text, after: "", found: false };
  const isOnce = text.indexOf(BEGIN, begin + 1) === -1 && text.indexOf(END, end + 1) === -1;
  if (begin === -1 || end < begin || !isOnce) {
    throw refused(
      `The lines that teams wrote in ${path} are incomplete, doubled or in the wrong order`,
      `Open the file, remove each line “${BEGIN}” and “${END}” and the lines of teams between them, then try again.`,
    );
  }
  const rest = text.slice(end + END.length);
  return { before: text.slice(0, begin), after: rest.replace(/^\n/, ""), found: true };
}

function refused(what: string, hint: string): TeamError {
  return new TeamError("INVALID_INPUT", `${what}; nothing was changed.`, { hint });
}

/** Describes the change, when it takes effect, and how to undo it. */
export function installText(shell: Shell, changes: readonly FileChange[]): string {
  const isSame = changes.every(({ change }) => change === "unchanged");
  const rows = changes.map(
    ({ path, part, change }) => line`  ${change}  ${path}${part === "lines" ? " (marked lines)" : ""}`,
  );
  return [
    isSame ? `${shell} already completes teams.` : `${shell} completes teams in new shells.`,
    ...rows,
    `To undo: teams completion uninstall ${shell}`,
  ].join("\n");
}

export function removeText(shell: Shell, changes: readonly FileChange[]): string {
  const removed = changes.filter(({ change }) => change === "removed");
  if (removed.length === 0) return `There was nothing to remove for ${shell}.`;
  const rows = removed.map(
    ({ path, part }) => line`  removed  ${path}${part === "lines" ? " (marked lines)" : ""}`,
  );
  return [`${shell} no longer completes teams in new shells.`, ...rows].join("\n");
}

/** Shows the files that an installation would write. */
export function filesText(files: readonly CompletionFile[]): string {
  return files
    .map(({ path, part, text }) => {
      const how = part === "lines" ? "these lines at the end of" : "this file:";
      return `${line`# ${how} ${path}`}\n${text}`;
    })
    .join("\n")
    .trimEnd();
}
