import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import {
  Client,
  StreamableHTTPClientTransport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { onTestFinished } from "vitest";
import { addMembers } from "../../../src/team/members/members.ts";
import { teamRef, teamsHome } from "../../../src/team/ref.ts";
import { temporaryDirectory } from "../files/temporary-directory.ts";
import { doneIn, TEAMS, teamsIn } from "../processes/built-program.ts";
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
  await done("create", "crew");
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
}

/** Connects the real client package. */
async function connected(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
  mode: VersionNegotiationMode,
) {
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode } });
  onTestFinished(() => client.close());
  await client.connect(transport);
  const call = async (
    name: string,
    input: Record<string, unknown> = {},
    options: Parameters<Client["callTool"]>[1] = {},
  ): Promise<Answer> => {
    const result = await client.callTool({ name, arguments: input }, { timeout: 180_000, ...options });
    const [content] = result.content as { text: string }[];
    const text = content?.text ?? "";
    return {
      isError: result.isError === true,
      text,
      json: text.startsWith("{") ? (JSON.parse(text) as Record<string, unknown>) : {},
    };
  };
  return { client, call };
}

/** Starts the built server on standard streams, as a client does. */
export async function stdioClient(
  { env, directory }: ForeignTeam,
  words: readonly string[] = ["--team", "crew", "--as", "ada"],
  mode: VersionNegotiationMode = "auto",
) {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [TEAMS, "mcp", ...words],
    env,
    cwd: directory,
    stderr: "ignore",
  });
  return { ...(await connected(transport, mode)), transport };
}

/** Starts the built server on HTTP. */
export async function httpServer({ env, directory }: ForeignTeam, as = "ada") {
  const child: ChildProcess = spawn(
    process.execPath,
    [TEAMS, "mcp", "--http", "--json", "--team", "crew", "--as", as],
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

export function httpClient(url: string, token: string, mode: VersionNegotiationMode = "auto") {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  return connected(new StreamableHTTPClientTransport(new URL(url), { requestInit }), mode);
}
