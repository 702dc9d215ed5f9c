import { expect } from "vitest";
import { addMembers } from "../../../src/team/members/members.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { type Cli, cliIn, type Ended } from "../processes/in-process-cli.ts";

/** A team with a third-party member. */
export async function crew(): Promise<Cli> {
  const cli = cliIn();
  expect((await cli(["create", "crew"])).code).toBe(0);
  await addMembers(teamRef(teamsHome(cli.env), "crew"), [{ name: "ada", cwd: cli.directory }]);
  return cli;
}

export const AS_ADA = ["mcp", "--team", "crew", "--as", "ada"] as const;
export const AS_LEAD = ["mcp", "--team", "crew", "--as", "team-lead"] as const;

/** The envelope of a request of the newer protocol. */
export const ENVELOPE = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "claude-code", version: "2.1.330" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

export function initialize(protocolVersion: string, capabilities: object = {}): object {
  const params = { protocolVersion, capabilities, clientInfo: { name: "test", version: "1" } };
  return { jsonrpc: "2.0", id: "first", method: "initialize", params };
}

export function callOf(id: number, name: string, input: object = {}): object {
  return requestOf(id, "tools/call", { name, arguments: input });
}

export function requestOf(id: number, method: string, params: object = {}): object {
  return { jsonrpc: "2.0", id, method, params };
}

export interface Reply {
  readonly id: unknown;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** Sends the server these lines at once, then closes its input. */
export async function exchange(
  cli: Cli,
  lines: readonly (string | object)[],
  words: readonly string[] = AS_ADA,
  env: Readonly<Record<string, string>> = {},
): Promise<Ended & { readonly replies: readonly Reply[]; reply(id: unknown): Reply | undefined }> {
  const stdin = lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n");
  const ended = await cli(words, { stdin: `${stdin}\n`, env });
  const replies = ended.bytes
    .toString("utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Reply);
  return { ...ended, replies, reply: (id) => replies.find((one) => one.id === id) };
}

/** The answer of a tool call: its text, its data, and whether it is an error. */
export interface ToolAnswer {
  readonly isError: boolean;
  readonly text: string;
  readonly data: Record<string, unknown> | undefined;
}

/** Calls tools of a new server, each after the answer to the previous call. */
export async function callTools(
  cli: Cli,
  calls: readonly (readonly [name: string, input?: object])[],
  words: readonly string[] = AS_LEAD,
  env: Readonly<Record<string, string>> = {},
): Promise<readonly ToolAnswer[]> {
  const answers: ToolAnswer[] = [];
  let answered: () => void = () => undefined;
  async function* bytesIn(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(`${JSON.stringify(initialize("2025-11-25"))}\n`);
    for (const [at, [name, input]] of calls.entries()) {
      const done = new Promise<void>((resolve) => {
        answered = resolve;
      });
      yield Buffer.from(`${JSON.stringify(callOf(at, name, input))}\n`);
      await done;
    }
  }
  const bytesOut = async (bytes: AsyncIterable<Uint8Array>): Promise<void> => {
    let text = "";
    for await (const chunk of bytes) {
      text += Buffer.from(chunk).toString("utf8");
      const lines = text.split("\n");
      text = lines.pop() ?? "";
      for (const line of lines) {
        const { id, result, error } = JSON.parse(line) as Reply;
        if (typeof id !== "number") continue;
        answers[id] =
          error === undefined ? toolAnswer(result) : { isError: true, text: error.message, data: undefined };
        answered();
      }
    }
  };
  const { code, err } = await cli(words, { streams: { bytesIn, bytesOut }, env });
  if (answers.length < calls.length)
    throw new Error(`The server ended with ${code} before it answered every call: ${err}`);
  return answers;
}

export function toolAnswer(result: Record<string, unknown> = {}): ToolAnswer {
  const content = (result.content ?? []) as readonly { readonly text: string }[];
  return {
    isError: result.isError === true,
    text: content.map(({ text }) => text).join("\n"),
    data: result.structuredContent as Record<string, unknown> | undefined,
  };
}
