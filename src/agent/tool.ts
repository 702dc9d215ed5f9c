import type * as z from "zod/mini";
import type { Env } from "../os/env.ts";
import type { Sandbox } from "../os/sandbox/sandbox.ts";
import type { BackgroundTasks } from "./background/background-tasks.ts";
import type { Assignment } from "./hooks/assignments.ts";

/** The effect of a call that permission rules check. Paths are absolute. */
export type ToolAccess =
  | { readonly kind: "read"; readonly paths: readonly string[] }
  | { readonly kind: "write"; readonly paths: readonly string[] }
  /** `outside`: asks to run outside the agent's sandbox. */
  | { readonly kind: "command"; readonly command: string; readonly outside?: true }
  /** Reads from a host; the host is normalized as in rules. */
  | { readonly kind: "host"; readonly host: string }
  /**
   * Acts only on the team: allowed in every mode. `what` is checked against a rule's pattern: the type of a new agent. `cli`: the
   * call starts this third-party CLI. Rules see only the requests of the CLI, so the call needs a rule that names the CLI, a mode
   * or a person.
   */
  | { readonly kind: "team"; readonly what?: string; readonly cli?: string | undefined }
  /** Runs on an external server with unknown effect: only a rule, a mode or a person allows it. */
  | { readonly kind: "external" };

/** A sandbox whose protection of files is renewed after each command. */
export interface CommandSandbox extends Sandbox {
  refresh(): void;
  /** Returns whether the sandbox sets or hides this variable, regardless of a command's environment. */
  controls(variable: string): boolean;
}

/** A tool of an MCP server, with the names that the server knows. */
export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

export interface ToolContext {
  /** Working directory of the agent; relative paths start there. */
  readonly cwd: string;
  readonly env: Env;
  /** Names of secret variables that the agent's commands may read. */
  readonly passSecrets?: readonly string[] | undefined;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
  /** Called with the last part of the output of a running command. */
  readonly onOutput?: ((tail: string) => void) | undefined;
  /** Files that this agent has read, with their mtime: for the read-before-write check. */
  readonly seenFiles: Map<string, number>;
  /** File of the agent's plan. */
  readonly planFile?: string | undefined;
  /** Background work of this agent. */
  readonly background: BackgroundTasks;
  /** Returns whether a rule excludes a file that the call found. The access of a search names only its directory. */
  readonly isExcludedFromSearch?: (path: string) => boolean;
  /** Returns whether a call may connect to this address of its host. */
  readonly mayConnect?: (address: string) => boolean;
  /** Returns the path of the shell snapshot that Bash sources first; undefined without one. May wait for the snapshot. Never rejects. */
  readonly snapshot?: ((signal: AbortSignal) => Promise<string | undefined>) | undefined;
  /** Returns the variables of SessionStart hooks, which Bash sets after the snapshot. @param isOutside for a command that leaves the agent's sandbox */
  readonly sessionVariables?: ((isOutside: boolean) => Promise<readonly Assignment[]>) | undefined;
  /** The sandbox of the agent's commands; undefined if they run as their user. */
  readonly sandbox?: CommandSandbox | undefined;
}

export interface ToolResult {
  readonly content: string;
  /** Texts of a person or a hook about the call. The model reads them after the content, even if that is truncated. */
  readonly notes?: readonly string[];
  readonly isError?: boolean;
  readonly data?: unknown;
  /** Shown in a pane instead of the content, because JSON is hard to read. */
  readonly display?: string;
  /** The change that the call made to a file: the lines of a unified diff, for a person. */
  readonly change?: readonly string[];
  /** Ends the turn after this call (ExitPlanMode waits for the plan approval). */
  readonly endTurn?: boolean;
}

/** One tool of an agent: its description for the model, its effect for permission rules, and its execution. */
export interface Tool<I = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodMiniType<I>;
  /** JSON Schema of the input, from the tool's MCP server. Otherwise it is generated from {@link input}. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  access(input: I, context: Pick<ToolContext, "cwd" | "env">): ToolAccess;
  /**
   * Returns the result of a call that is bound to fail; undefined if it may succeed. Called before a person is asked for
   * permission, so it must change nothing and reveal nothing that the agent may not know.
   * @param mayRead whether the agent may read the paths of the call
   */
  knownFailure?(input: I, context: ToolContext, mayRead: boolean): ToolResult | undefined;
  /**
   * Returns the change that the call would make to a file, for the person who is asked: the lines of a unified diff. Changes
   * nothing. Undefined if the request shows only the input.
   * @param mayRead whether the agent may read the paths of the call
   */
  plannedChange?(
    input: I,
    context: Pick<ToolContext, "cwd" | "env">,
    mayRead: boolean,
  ): Promise<readonly string[] | undefined>;
  /** Throws only on unexpected errors. An invalid input gives a result with `isError`. */
  execute(input: I, context: ToolContext): Promise<ToolResult>;
  /**
   * Whether calls may run in parallel with other such calls of a turn: true for reads, never for team tools and writes. A
   * function gets unchecked input.
   */
  readonly parallel?: boolean | ((input: unknown) => boolean);
  /** Offered to the model only in plan mode. */
  readonly whilePlanning?: boolean;
  /** Server of an MCP tool. */
  readonly served?: ServerTool;
  /** A second name that the model may use. */
  readonly alias?: string;
  /** Returns the path that the summary begins or ends with, which the pane may show shorter. */
  summaryPath?(input: I): string | undefined;
  /** Returns one line that the pane shows in brackets after the name. */
  summary(input: I): string;
}

/** A tool of any input type. */
// biome-ignore lint/suspicious/noExplicitAny: each tool of a list has a different input type; `input` parses before `execute` sees a value
export type AnyTool = Tool<any>;
