import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { entryOf, listDir, removeFile } from "../../os/files/fs.ts";
import { readUnsized } from "../../os/files/user-files.ts";
import { COMMAND_VARIABLE } from "../../os/process/process-tree.ts";
import { isSecretName, redactText, secretsOf } from "../../os/redact.ts";
import { SESSION_ENV_FILE } from "../../protocol/paths.ts";
import { sha256 } from "../../protocol/sha256.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { Assignment, ReadAssignments } from "./assignments.ts";

/** A hook of the start of a session. */
interface SessionHook {
  readonly command: string;
  /** False for a project's hook. */
  readonly isOwn: boolean;
}

interface SessionVariablesOptions {
  /** The existing directory of the session (protocol.md section 1). */
  readonly directory: string;
  readonly env: Env;
  /** The hooks in the order in which their variables apply. */
  readonly hooks: () => readonly SessionHook[];
}

/** Maximum bytes of one hook's file, and of all variables together: they must fit into one variable of a command's environment. */
const MAX_BYTES = 64 * 1024;
/** Maximum characters of a list or a line in a notice. */
const MAX_SHOWN = 60;

/** Variables whose values differ for each program: a hook that prints all its variables prints them, too. */
const OF_PROGRAM: ReadonlySet<string> = new Set(["PWD", "OLDPWD", COMMAND_VARIABLE]);

/**
 * Variables that must not be set: they identify the agent's processes, change how a shell reads a line, which permission rules
 * rely on (`HOME`, `IFS`, `CDPATH`, zsh's arrays), load code into each program, or lead git to another repository or configuration.
 */
const REFUSED = [
  /^(?:TEAMS_.*|CLAUDECODE|CLAUDE_ENV_FILE|CLAUDE_PROJECT_DIR|E?[UG]ID|PPID|USERNAME)$/,
  /^(?:HOME|PWD|OLDPWD|IFS|ENV|BASH_ENV|BASH_ALIASES|BASH_CMDS|BASHOPTS|SHELLOPTS|POSIXLY_CORRECT|PS4)$/,
  /^(?:CDPATH|GLOBIGNORE|EXECIGNORE|FIGNORE|ZDOTDIR|(?:READ)?NULLCMD)$/,
  /^(?:path|cdpath|fpath|fignore|module_path|functions|[gs]?aliases|commands|options|histchars)$/,
  /^(?:LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)$/,
  /^GIT_(?:CONFIG.*|DIR|WORK_TREE|COMMON_DIR|INDEX_FILE|.*OBJECT_DIRECTOR.*|NAMESPACE|ATTR_SOURCE|EXEC_PATH|TEMPLATE_DIR|EXTERNAL_DIFF|PROXY_COMMAND)$/,
];

/** The variables that the SessionStart hooks of an agent set for its commands, one file for each hook. */
export class SessionVariables {
  readonly #options: SessionVariablesOptions;
  readonly #secrets: readonly string[];
  readonly #read = new Map<string, { readonly text: string; readonly found: ReadAssignments }>();
  #lastClean: Promise<unknown> = Promise.resolve();

  constructor(options: SessionVariablesOptions) {
    this.#options = options;
    this.#secrets = secretsOf(options.env);
  }

  /** Creates the file of a hook if it does not exist. @returns its path, for `CLAUDE_ENV_FILE` */
  prepare(command: string): string {
    const file = this.#fileOf(command);
    // The sandbox lets a project's hook write this file: it must not be a link to another one.
    if (!isPlainFile(file)) write(file, []);
    return file;
  }

  /**
   * Rewrites a file that a hook has written: only assignments stay, each once, and without secrets. Never rejects.
   * @param env the hook's environment
   * @returns the omitted parts, as lines for a person
   */
  keep(command: string, env: Env): Promise<readonly string[]> {
    return this.#cleanNext(this.#fileOf(command), env);
  }

  /**
   * Rewrites all files in this way: a killed process leaves them as the hooks wrote them. Never rejects.
   * @returns a line for each file that cannot be used; a hook that runs again reports the omitted parts of its file
   */
  async keepAll(): Promise<readonly string[]> {
    const { directory } = this.#options;
    try {
      const names = listDir(directory).filter((name) => SESSION_ENV_FILE.test(name));
      return (await Promise.all(names.map((name) => this.#cleanNext(join(directory, name))))).flat();
    } catch (error) {
      return [`the files of its variables cannot be listed: ${messageOf(error)}`];
    }
  }

  /** Returns the assignments for a command. @param isOutside leaves out those of a project's hooks, which run in the sandbox */
  async assignments(isOutside: boolean): Promise<readonly Assignment[]> {
    const hooks = this.#options.hooks().filter(({ isOwn }) => isOwn || !isOutside);
    const found = await Promise.all(hooks.map(({ command }) => this.#assignmentsIn(this.#fileOf(command))));
    return found.flat();
  }

  /** Cleans one file after the other: if two files are too long together, one of them keeps its variables. */
  #cleanNext(file: string, env?: Env): Promise<readonly string[]> {
    const cleaned = this.#lastClean.then(() => this.#clean(file, env));
    this.#lastClean = cleaned;
    return cleaned;
  }

  /** Never rejects. */
  async #clean(file: string, env: Env | undefined): Promise<readonly string[]> {
    try {
      const text = textOf(file);
      if (text === undefined) {
        write(file, []);
        return [`its CLAUDE_ENV_FILE is not a file of at most ${MAX_BYTES} bytes, so it sets no variables`];
      }
      const { assignments, others } = await this.#parse(file, text);
      // The newest of equal lines counts: a hook adds its lines again after each compaction.
      const lines = assignments.filter((one) => !isRefused(one)).map((one) => exportLine(this.#masked(one)));
      const kept = lines.filter((one, i) => lines.lastIndexOf(one) === i);
      if (text !== textFrom(kept)) write(file, kept);
      if (Buffer.byteLength(exportLines(await this.assignments(false))) > MAX_BYTES) {
        write(file, []);
        return [`the variables of all hooks have more than ${MAX_BYTES} bytes, so it sets none`];
      }
      return env === undefined ? [] : this.#problems({ assignments, others }, env);
    } catch (error) {
      return [
        `its CLAUDE_ENV_FILE cannot be used, so it sets no variables: ${messageOf(error)}`,
        ...discarded(file),
      ];
    }
  }

  #masked({ name, parts }: Assignment): Assignment {
    return {
      name,
      parts: parts.map((part) => (typeof part === "string" ? redactText(part, this.#secrets) : part)),
    };
  }

  #problems({ assignments, others }: ReadAssignments, env: Env): readonly string[] {
    // Hooks may print all their variables.
    const isInherited = (one: Assignment): boolean =>
      OF_PROGRAM.has(one.name) || env[one.name] === literalOf(one);
    const left = assignments.filter((one) => isRefused(one) && !isInherited(one));
    const listed = (isSecret: boolean): string => {
      const names = left.filter((one) => hasSecret(one) === isSecret).map(({ name }) => name);
      return shortened([...new Set(names)].join(", "), MAX_SHOWN);
    };
    const [first] = others;
    const more = others.length === 1 ? "" : ` (and ${others.length - 1} more)`;
    return [
      ...(first === undefined
        ? []
        : [`only assignments count in CLAUDE_ENV_FILE; left out: ${this.#shown(first)}${more}`]),
      ...(listed(true) === ""
        ? []
        : [`left out, since teams must not save the values of secrets: ${listed(true)}`]),
      ...(listed(false) === ""
        ? []
        : [`left out, since hooks must not set these variables for an agent's commands: ${listed(false)}`]),
    ];
  }

  #shown(text: string): string {
    const line = stripControls(redactText(text, this.#secrets)).replace(/\s+/g, " ").trim();
    return shortened(line, MAX_SHOWN);
  }

  async #assignmentsIn(file: string): Promise<readonly Assignment[]> {
    const text = textOf(file) ?? "";
    if (text === "") return [];
    const { assignments } = await this.#parse(file, text);
    return assignments.filter((one) => !isRefused(one));
  }

  async #parse(file: string, text: string): Promise<ReadAssignments> {
    const before = this.#read.get(file);
    if (before?.text === text) return before.found;
    const { readAssignments } = await import("./assignments.ts");
    const found = readAssignments(text);
    this.#read.set(file, { text, found });
    return found;
  }

  #fileOf(command: string): string {
    return join(this.#options.directory, `hook-${sha256(command).slice(0, 12)}.sh`);
  }
}

function isPlainFile(file: string): boolean {
  const entry = entryOf(file);
  return entry?.isFile() === true && entry.nlink <= 1;
}

/** @returns "" if the file is missing; undefined if it is not a plain file, or too long */
function textOf(file: string): string | undefined {
  const entry = entryOf(file);
  if (entry === undefined) return "";
  if (!isPlainFile(file) || entry.size > MAX_BYTES) return undefined;
  return readUnsized(file, MAX_BYTES)?.toString("utf8") ?? "";
}

function write(file: string, lines: readonly string[]): void {
  replaceFile(file, textFrom(lines), { sync: false });
}

/** Removes a file that may contain secrets. @returns why it cannot be removed, as lines for a person */
function discarded(file: string): readonly string[] {
  try {
    if (entryOf(file)?.isDirectory() !== true) removeFile(file);
    return [];
  } catch (error) {
    return [`its CLAUDE_ENV_FILE may contain secrets, and cannot be removed: ${messageOf(error)}`];
  }
}

function textFrom(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function isRefused(one: Assignment): boolean {
  return hasSecret(one) || REFUSED.some((pattern) => pattern.test(one.name));
}

/** Returns true if the name is that of a secret, or the value contains credentials of a proxy. */
function hasSecret(one: Assignment): boolean {
  return isSecretName(one.name) || secretsOf({ [one.name]: literalOf(one) }).length > 0;
}

/** Returns the texts of the value, without the values of variables in it. */
function literalOf({ parts }: Assignment): string {
  return parts.map((part) => (typeof part === "string" ? part : "")).join("");
}

/** Returns the variables whose values need no other variable. */
export function literalValues(assignments: readonly Assignment[]): Env {
  const known = assignments.filter(({ parts }) => parts.every((part) => typeof part === "string"));
  return Object.fromEntries(known.map((one) => [one.name, literalOf(one)]));
}

/** Returns lines for any shell that set these variables, and do nothing else. */
export function exportLines(assignments: readonly Assignment[]): string {
  return textFrom(assignments.map(exportLine));
}

/** Two quoted texts are never adjacent: zsh with `rc_quotes` would read a quote between them. */
function exportLine({ name, parts }: Assignment): string {
  const value = parts.map((part) =>
    typeof part === "string" ? shellQuote(part) : `"\${${part.variable}-}"`,
  );
  return `export ${name}=${value.join("")}`;
}
