import type * as z from "zod/mini";
import type { ToolResult } from "../../agent/tool.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import type { MemberToolContext } from "../context.ts";
import type { ClientMail } from "./client-mail.ts";
import type { ClientMember } from "./client-member.ts";

/** The dependencies of the tools of a member whose program is an MCP client. */
export interface ClientToolContext extends MemberToolContext {
  readonly worker: ClientMember;
  readonly mail: ClientMail;
  /** Its messages reach it in another way, and that way also reports that it is idle. */
  readonly withoutInbox: boolean;
  /** Returns the options for teammates that a lead starts. */
  spawnOptions(): SpawnOptions;
}

/** One call of a client. */
export interface ClientCall {
  /** Aborts when the client cancels the call or goes away. */
  readonly signal: AbortSignal;
  /** Shows the client that a long call is still running. */
  progress(text: string): void;
}

/** A tool that only MCP clients get: our own agents have its effect in their loop. */
export interface ClientOnlyTool<I = unknown> {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodMiniType<I>;
  /** Whether a call changes nothing. */
  readonly readOnly?: boolean;
  /** A wrong input gives a result with `isError`. */
  execute(input: I, call: ClientCall): Promise<ToolResult>;
}

// biome-ignore lint/suspicious/noExplicitAny: as in AnyTool
export type AnyClientTool = ClientOnlyTool<any>;
export type ClientTool = (context: ClientToolContext) => AnyClientTool;
