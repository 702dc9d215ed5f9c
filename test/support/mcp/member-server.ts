import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect, onTestFinished } from "vitest";
import { addMembers } from "../../../src/team/members/members.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";
import { doneIn, TEAMS, teamsHere, teamsIn } from "../processes/built-program.ts";
import { eventually } from "../timing/eventually.ts";

/** A team of the built program, whose members run third-party programs. */
export async function foreignTeam(members: readonly string[] = ["ada"]) {
  const directory = temporaryDirectory();
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: directory,
    TEAMS_HOME: join(directory, "root"),
    XDG_RUNTIME_DIR: directory,
  };
  const teams = teamsIn(env, directory);
  const done = doneIn(env, directory);
  expect((await teamsHere(env, directory)("create", "crew")).code).toBe(0);
  const ref = teamRef(teamsHome(env), "crew");
  await addMembers(
    ref,
    members.map((name) => ({ name, cwd: directory })),
  );
  return { directory, env, teams, done, ref };
}
export type ForeignTeam = Awaited<ReturnType<typeof foreignTeam>>;

/** The result of a tool call. */
export interface Answer {
  readonly isError: boolean;
  readonly text: string;
  readonly json: Record<string, unknown>;
  /** The structured content, which the client package has checked against the schema of the tool. */
  readonly data: Record<string, unknown> | undefined;
}

/** The options of a request: by default, the client package gives up after a minute, but a shared machine can stall that long. */
export const PATIENT = { timeout: 240_000 };

/** Answers a form as a person would. */
export type Person = (form: {
  readonly message: string;
  readonly requestedSchema: { readonly properties: Readonly<Record<string, unknown>> };
}) => Promise<{ action: "accept" | "decline" | "cancel"; content?: Record<string, string> }>;

/** Connects the real client package. @param person answers forms; without it, the client does not support forms */
async function connected(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  mode: VersionNegotiationMode,
  person?: Person,
) {
  const capabilities = person === undefined ? {} : { elicitation: {} };
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation: { mode } });
  if (person !== undefined)
    client.setRequestHandler("elicitation/create", ({ params }) => person(params as Parameters<Person>[0]));
  onTestFinished(() => client.close());
  await client.connect(transport, PATIENT);
  const call = async (
    name: string,
    input: Record<string, unknown> = {},
    options: Parameters<Client["callTool"]>[1] = {},
  ): Promise<Answer> => {
    const result = await client.callTool({ name, arguments: input }, { ...PATIENT, ...options });
    const [content] = result.content as { text: string }[];
    const text = content?.text ?? "";
    return {
      isError: result.isError === true,
      text,
      json: text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {},
      data: result.structuredContent as Record<string, unknown> | undefined,
    };
  };
  return { client, call };
}

/** Starts the built server on standard streams, as a client does. */
export async function stdioClient(
  { env, directory }: ForeignTeam,
  words: readonly string[] = ["--team", "crew", "--as", "ada"],
  mode: VersionNegotiationMode = "auto",
  person?: Person,
) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [TEAMS, "mcp", ...words],
    env,
    cwd: directory,
    stderr: "ignore",
  });
  return { ...(await connected(transport, mode, person)), transport };
}

/** Starts the built server over HTTP. */
export async function httpServer({ env, directory }: ForeignTeam, as = "ada") {
  const child: ChildProcess = spawn(
    process.execPath,
    [TEAMS, "mcp", "--http", "0", "--json", "--team", "crew", "--as", as],
    { env, cwd: directory, stdio: ["ignore", "pipe", "inherit"] },
  );
  let out = "";
  child.stdout?.on("data", (text: Buffer) => {
    out += text.toString("utf8");
  });
  const ended = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  const line = await eventually("the server's address", () => (out.includes("\n") ? out : undefined));
  const started = JSON.parse(line) as { readonly url: string; readonly tokenFile: string };
  return { ...started, child, ended };
}

export async function httpClient(
  url: string,
  token: string,
  mode: VersionNegotiationMode = "auto",
  person?: Person,
) {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit });
  return { ...(await connected(transport, mode, person)), transport };
}

/** Reads the token of a server. */
export function tokenIn(file: string): string {
  return readFileSync(file, "utf8").trim();
}
