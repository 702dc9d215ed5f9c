import type * as z from "zod/mini";
import type { Env } from "../os/env.ts";
import type { BackgroundTasks } from "./background/background-tasks.ts";

/** What a call touches, as far as the permission rules care; paths are absolute. */
export type ToolAccess =
  | { readonly kind: "read"; readonly paths: readonly string[] }
  | { readonly kind: "write"; readonly paths: readonly string[] }
  | { readonly kind: "command"; readonly command: string }
  /** Reads something from a host of the network; the host as rules name it. */
  | { readonly kind: "host"; readonly host: string }
  /** Acts on the team alone: allowed in every mode. `what` is held against a rule's pattern: the type of an agent to be. */
  | { readonly kind: "team"; readonly what?: string }
  /** Whatever a server of somebody else's does with it: only a rule, a mode or a person allows it. */
  | { readonly kind: "external" };

/** A tool of somebody else's server, as that one knows it. */
export interface ServerTool {
  readonly server: string;
  readonly tool: string;
}

export interface ToolContext {
  /** Working directory of the agent; relative paths start here. */
  readonly cwd: string;
  readonly env: Env;
  /** Variables with credentials that its commands may have. */
  readonly passSecrets?: readonly string[] | undefined;
  /** Aborts when the turn is interrupted. */
  readonly signal: AbortSignal;
  readonly toolUseId: string;
  /** Files that this agent has read, with the mtime it saw: the read-before-write check. */
  readonly seenFiles: Map<string, number>;
  /** The one file that is a file of ours: its agent's plan. */
  readonly planFile?: string | undefined;
  /** What this agent runs in the background, and may run there. */
  readonly background: BackgroundTasks;
  /** Whether a rule keeps back a file that this call came upon by itself: its access named only the directory. */
  readonly isExcludedFromSearch?: (path: string) => boolean;
  /** Whether a call that named a host may reach it at this address. */
  readonly mayConnect?: (address: string) => boolean;
  /** Shell snapshot that Bash sources first, if there is one. */
  readonly snapshot?: string;
}

export interface ToolResult {
  readonly content: string;
  readonly isError?: boolean;
  readonly data?: unknown;
  /** What a pane shows in place of the content; a person has no use for JSON. */
  readonly display?: string;
  /** The turn ends behind this call (ExitPlanMode waits for its verdict). */
  readonly endTurn?: boolean;
}

/** One tool of an agent: what the model is told, what it touches, and what it does. */
export interface Tool<I = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodMiniType<I>;
  /** JSON Schema of the input, of a tool that is described by somebody else; made from {@link input} without it. */
  readonly inputSchema?: Readonly<Record<string, unknown>>;
  access(input: I, context: Pick<ToolContext, "cwd" | "env">): ToolAccess;
  /** Throws only for what is nobody's mistake; a wrong input is a result with `isError`. */
  execute(input: I, context: ToolContext): Promise<ToolResult>;
  /** Whether it may run beside its like in one turn; reads do, team tools and writes never. Asked of input that nobody checked. */
  readonly parallel?: boolean | ((input: unknown) => boolean);
  /** A model is told of it in plan mode only. */
  readonly whilePlanning?: boolean;
  /** Whose it is, of a server's tool. */
  readonly served?: ServerTool;
  /** A name that it is called by as well. */
  readonly alias?: string;
  /** What the pane shows in the brackets behind its name; one line. */
  summary(input: I): string;
}

/** A tool whose input type is its own business. */
// biome-ignore lint/suspicious/noExplicitAny: a list of tools has one input type each; `input` parses before `execute` sees a value
export type AnyTool = Tool<any>;
