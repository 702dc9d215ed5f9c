import { join } from "node:path";
import { messageOf } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir, entryOf, fileSize, readText } from "../../os/files/fs.ts";
import { isSecretName, redactText, secretsOf } from "../../os/redact.ts";
import { sha256 } from "../../protocol/sha256.ts";
import { shellQuote } from "../../text/shell-quote.ts";
import type { Assignment, ReadAssignments } from "./assignments.ts";

/** A hook of the start of a session. */
interface SessionHook {
  readonly command: string;
  /** False for a project's hook. */
  readonly isOwn: boolean;
}

interface SessionVariablesOptions {
  /** The directory of the session (protocol.md section 1). */
  readonly directory: string;
  readonly env: Env;
  /** The hooks in the order in which their variables apply. */
  readonly hooks: () => readonly SessionHook[];
}

/** Maximum bytes of a hook's file: the variables of a command must fit into one argument. */
const MAX_BYTES = 64 * 1024;

/** Variables that identify the agent and its processes to teams, and those by which a shell reads a line otherwise. */
const REFUSED =
  /^(TEAMS_.*|CLAUDECODE|IFS|BASH_ENV|ENV|SHELLOPTS|BASHOPTS|GLOBIGNORE|CDPATH|POSIXLY_CORRECT)$/;

/** The variables that the SessionStart hooks of an agent set for its commands, one file for each hook. */
export class SessionVariables {
  readonly #options: SessionVariablesOptions;
  readonly #read = new Map<string, { readonly text: string; readonly found: ReadAssignments }>();

  constructor(options: SessionVariablesOptions) {
    this.#options = options;
  }

  /** Creates the file of a hook if it does not exist. @returns its path, for `CLAUDE_ENV_FILE` */
  prepare(command: string): string {
    const { directory } = this.#options;
    ensureDir(directory);
    const file = this.#fileOf(command);
    if (entryOf(file) === undefined) replaceFile(file, "", { sync: false });
    return file;
  }

  /**
   * Keeps the assignments of a file that a hook has written, each once, and without secrets.
   * @returns what was left out, as lines for a person
   */
  async keep(command: string): Promise<readonly string[]> {
    const file = this.#fileOf(command);
    const write = (text: string): void => void replaceFile(file, text, { sync: false });
    try {
      if ((fileSize(file) ?? 0) > MAX_BYTES) {
        write("");
        return [`its CLAUDE_ENV_FILE is longer than ${MAX_BYTES} bytes, so it sets no variables`];
      }
      const text = readText(file) ?? "";
      const { statements, others } = await this.#parse(file, text);
      const problems = others.map(
        (one) => `only assignments count in CLAUDE_ENV_FILE; left out: ${shown(one)}`,
      );
      const kept = statements.filter(({ assignments }) => {
        const why = assignments.map(refusal).find((one) => one !== undefined);
        if (why !== undefined) problems.push(why);
        return why === undefined;
      });
      // The newest of equal statements counts: a hook adds its lines again after each compaction.
      const texts = kept.map((one) => one.text).filter((one, i, all) => all.lastIndexOf(one) === i);
      const clean = redactText(texts.map((one) => `${one}\n`).join(""), secretsOf(this.#options.env));
      if (clean !== text) write(clean);
      return problems;
    } catch (error) {
      return [`its CLAUDE_ENV_FILE cannot be used: ${messageOf(error)}`];
    }
  }

  /** Returns the assignments for a command. @param isOutside leaves out those of a project's hooks, which run in the sandbox */
  async assignments(isOutside: boolean): Promise<readonly Assignment[]> {
    const hooks = this.#options.hooks().filter(({ isOwn }) => isOwn || !isOutside);
    const found = await Promise.all(hooks.map(({ command }) => this.#assignmentsIn(this.#fileOf(command))));
    return found.flat();
  }

  async #assignmentsIn(file: string): Promise<readonly Assignment[]> {
    const size = fileSize(file) ?? 0;
    if (size === 0 || size > MAX_BYTES) return [];
    const { statements } = await this.#parse(file, readText(file) ?? "");
    return statements.flatMap(({ assignments }) =>
      assignments.every((one) => refusal(one) === undefined) ? assignments : [],
    );
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

/** Returns why a variable is not set, as a line for a person. */
function refusal({ name, parts }: Assignment): string | undefined {
  const literal = parts.map((part) => (typeof part === "string" ? part : "")).join("");
  if (isSecretName(name) || secretsOf({ [name]: literal }).length > 0)
    return `${name} holds a secret, and no file of teams may hold one; it is not set`;
  return REFUSED.test(name) ? `${name} must not be set for an agent's commands` : undefined;
}

function shown(text: string): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length <= 60 ? line : `${line.slice(0, 59)}…`;
}

/** What a command needs to get variables. */
interface CommandVariables {
  readonly env: Env;
  /** Commands of a shell that set PATH again, after a snapshot has set it; "" if no variable does. */
  readonly afterSnapshot: string;
}

/** Applies variables to the environment of a command. */
export function commandVariables(given: Env, assignments: readonly Assignment[]): CommandVariables {
  const env: Record<string, string | undefined> = { ...given };
  let afterSnapshot = "";
  for (const { name, parts } of assignments) {
    if (name === "PATH") {
      const words = parts.map((part) => {
        if (typeof part === "string") return shellQuote(part);
        return part.variable === "PATH" ? '"$PATH"' : shellQuote(env[part.variable] ?? "");
      });
      afterSnapshot += `PATH=${words.join("")}; `;
    }
    env[name] = parts.map((part) => (typeof part === "string" ? part : (env[part.variable] ?? ""))).join("");
  }
  return { env, afterSnapshot };
}
