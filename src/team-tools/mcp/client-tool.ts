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
  /** Its messages reach it in another way, and that way also reports that it is idle. */
  readonly withoutInbox: boolean;
  /** A person uses the client: a form that it shows is answered by that person. False in the shell of an agent. */
  readonly hasPerson: boolean;
  /** The open requests that the client knows of: those that a result has named. */
  readonly knownRequests: Set<string>;
  /** Returns the options for teammates that a lead starts. */
  spawnOptions(): SpawnOptions;
  /** Creates the team that the server is for; it does not exist. */
  createTeam(team: NewClientTeam): Promise<void>;
}

/** The words with which a lead creates its team. */
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
   * Shows the person a form. Undefined if the client cannot. It may throw what ends the call: the client then calls again, with the
   * answer.
   * @param signal aborts when the answer is no longer needed
   */
  readonly ask?: ((form: Form, signal: AbortSignal) => Promise<FormAnswer>) | undefined;
}

/** Promises of a tool, which a client reads before it calls the tool. */
export interface ToolHints {
  readonly title: string;
  /** A call changes nothing. */
  readonly readOnly?: boolean;
  /** A call may remove or end something. */
  readonly destructive?: boolean;
  /** A second call with the same input changes nothing more. */
  readonly idempotent?: boolean;
  /** A call starts programs that reach more than the team. */
  readonly openWorld?: boolean;
}

/** A tool that only MCP clients get: our own agents have its effect in their loop. */
export interface ClientOnlyTool<I = unknown> {
  readonly name: string;
  /** A second name that the model may use. */
  readonly alias?: string;
  readonly description: string;
  readonly hints: ToolHints;
  readonly input: z.ZodMiniType<I>;
  /** The data of a result without an error. */
  readonly output: z.ZodMiniType;
  /** It works before the team exists. */
  readonly withoutTeam?: boolean;
  /** A wrong input gives a result with `isError`. */
  execute(input: I, call: ClientCall): Promise<ToolResult>;
}

// biome-ignore lint/suspicious/noExplicitAny: as in AnyTool
export type AnyClientTool = ClientOnlyTool<any>;
export type ClientTool = (context: ClientToolContext) => AnyClientTool;
