import { Readable, Writable } from "node:stream";
import type { ClientConnection, Stream } from "@agentclientprotocol/sdk";
import { messageOf } from "../../errors.ts";
import type { PipedProgram } from "../../os/process/piped-program.ts";
import { LoginMissing } from "../await-login.ts";
import type { ChannelSetup } from "../channel.ts";
import { cleaned, fieldsOf } from "../reported-values.ts";
import { wellFormedStream } from "./well-formed-stream.ts";

/** Maximum size of a message from a CLI, in bytes. */
const MAX_MESSAGE = 64 * 1024 * 1024;

/** Returns the message stream over a CLI's stdin and stdout. */
export async function messagesOf({ stdin, stdout }: PipedProgram): Promise<Stream> {
  const { ndJsonStream } = await import("@agentclientprotocol/sdk");
  return wellFormedStream(
    ndJsonStream(
      Writable.toWeb(stdin) as WritableStream<Uint8Array>,
      Readable.toWeb(stdout) as ReadableStream<Uint8Array>,
      { maxMessageBytes: MAX_MESSAGE },
    ),
  );
}

/** Version of the protocol. */
const VERSION = 1;

/** Negotiates the protocol. @throws Error if the CLI speaks another version, or an error of the connection or of the CLI */
export async function initialize({ agent }: ClientConnection): Promise<void> {
  const answer: unknown = await agent.request("initialize", {
    protocolVersion: VERSION,
    clientInfo: { name: "teams", version: "1" },
    // Version 2 of the protocol drops `fs` and `terminal`; without them, a CLI uses its own tools.
    clientCapabilities: {
      fs: { readTextFile: false, writeTextFile: false },
      terminal: false,
      elicitation: { form: {} },
    },
  });
  const { protocolVersion: version } = fieldsOf(answer);
  if (typeof version === "number" && version !== VERSION)
    throw new Error(
      `it speaks version ${version} of the Agent Client Protocol, but teams needs version ${VERSION}`,
    );
}

export interface OpenedSession {
  readonly sessionId: string;
  /** The CLI's answer, with its modes and options. */
  readonly opened: unknown;
}

/**
 * Opens a session with the team's servers: resumes the given conversation if the CLI still has it, else creates a session.
 * @param note reports that the conversation could not be resumed
 * @throws LoginMissing, or an error of the connection or of the CLI
 */
export async function openSession(
  { agent }: ClientConnection,
  { adapter, cwd, servers }: ChannelSetup,
  conversation: string | undefined,
  note: (text: string) => void,
): Promise<OpenedSession> {
  const mcpServers = servers.map(({ name, command, args, env }) => ({
    name,
    command,
    args: [...args],
    env: Object.entries(env).map(([key, value]) => ({ name: key, value })),
  }));
  if (conversation !== undefined && adapter.resume !== "none") {
    const method = adapter.resume === "load" ? "session/load" : "session/resume";
    try {
      const opened: unknown = await loggedIn(
        agent.request(method, { sessionId: conversation, cwd, mcpServers }),
      );
      return { sessionId: conversation, opened };
    } catch (error) {
      if (error instanceof LoginMissing) throw error;
      note(
        `${adapter.id} could not resume its earlier conversation, so it starts a new one: ${messageOf(error)}`,
      );
    }
  }
  const opened: unknown = await loggedIn(agent.request("session/new", { cwd, mcpServers }));
  const { sessionId } = fieldsOf(opened);
  if (typeof sessionId !== "string" || sessionId === "") throw new Error("it returned no session id");
  return { sessionId, opened };
}

/** JSON-RPC error of a CLI without a login. */
const AUTH_REQUIRED = -32000;

/** Waits for an answer. @throws LoginMissing if the CLI answers that it has no login */
async function loggedIn<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (fieldsOf(error).code === AUTH_REQUIRED) throw new LoginMissing(messageOf(error), { cause: error });
    throw error;
  }
}

/** Why a prompt failed, for people, by the protocol's stop reason. */
const STOP_REASONS: Readonly<Record<string, string>> = {
  max_tokens: "The answer reached its maximum length.",
  max_turn_requests: "The turn reached the maximum number of model calls.",
  refusal: "The model refused to continue.",
};

/** Returns why a prompt failed, for people. */
export function failureOf(stopReason: string): string {
  return STOP_REASONS[stopReason] ?? cleaned(stopReason);
}

/** Stop reasons that some CLIs give when a refused call ends the turn, although the work is not done. */
export const REFUSAL_ENDS: ReadonlySet<string> = new Set(["end_turn", "cancelled"]);
