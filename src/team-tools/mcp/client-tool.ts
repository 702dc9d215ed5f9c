import type * as z from "zod/mini";
import type { ToolResult } from "../../agent/tool.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import type { MemberToolContext } from "../context.ts";
import type { ClientMail, MailCall } from "./client-mail.ts";
import type { ClientMember } from "./client-member.ts";

/** The dependencies of the tools of a member whose program is an MCP client. */
export interface ClientToolContext extends MemberToolContext {
  readonly worker: ClientMember;
  readonly mail: ClientMail;
  /** Whether its messages reach it in another way, which also reports when it is idle. */
  readonly withoutInbox: boolean;
  /** Whether a person uses the client, and thus answers the forms that it shows. False in the shell of an agent. */
  readonly hasPerson: boolean;
  /** The open requests that the client knows of: those that a result has named. */
  readonly knownRequests: Set<string>;
  /** Returns the options for teammates that a lead starts. */
  spawnOptions(): SpawnOptions;
  /** Creates the team that the server is for, which must not exist yet. */
  createTeam(team: NewClientTeam): Promise<void>;
}

/** The facts of a team that a lead creates. */
export interface NewClientTeam {
  readonly displayName: string;
  readonly description?: string | undefined;
  readonly agentType?: string | undefined;
}

/** A form that a client shows to the person who uses it. */
export interface Form {
  readonly message: string;
  /** JSON Schemas of the fields: only strings, numbers, booleans and choices. */
  readonly fields: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required: readonly string[];
}

/** The person's answer to a form. `decline` and `cancel` decide nothing. */
export type FormAnswer =
  | { readonly action: "accept"; readonly content: Readonly<Record<string, unknown>> }
  | { readonly action: "decline" | "cancel" };

/** One call of a client. */
export interface ClientCall extends MailCall {
  /** Shows the client that a long call is still running. */
  progress(text: string): void;
  /**
   * Shows the person a form. Undefined if the client cannot show forms. May throw to end the call: the client then calls again, with
   * the answer.
   * @param signal aborts when the answer is no longer needed
   */
  readonly ask?: ((form: Form, signal: AbortSignal) => Promise<FormAnswer>) | undefined;
}

/** Hints about a tool, which a client reads before it calls the tool. */
export interface ToolHints {
  readonly title: string;
  /** Whether a call changes nothing. */
  readonly readOnly?: boolean;
  /** Whether a call may remove or end something. */
  readonly destructive?: boolean;
  /** Whether a repeated call with the same input changes nothing. */
  readonly idempotent?: boolean;
  /** Whether a call starts programs that reach more than the team. */
  readonly openWorld?: boolean;
}

/** A tool that only MCP clients get: the loop of our own agents does the same without a tool. */
export interface ClientOnlyTool<I = unknown> {
  readonly name: string;
  /** A second name that the model may use. */
  readonly alias?: string;
  readonly description: string;
  readonly hints: ToolHints;
  readonly input: z.ZodMiniType<I>;
  /** The data of a successful result. */
  readonly output: z.ZodMiniType;
  /** Whether the tool works before the team exists. */
  readonly withoutTeam?: boolean;
  /** Runs the tool. An invalid input gives a result with `isError`. */
  execute(input: I, call: ClientCall): Promise<ToolResult>;
}

// biome-ignore lint/suspicious/noExplicitAny: as in AnyTool
export type AnyClientTool = ClientOnlyTool<any>;
export type ClientTool = (context: ClientToolContext) => AnyClientTool;
