import { type HttpEntry, MCP_CLIENTS, mcpSnippet } from "../../adapter/mcp-snippets.ts";
import { EXIT } from "../../errors.ts";
import { mcpEntry } from "../../launch/mcp-entry.ts";
import {
  joinAsClient,
  openClientLead,
  openClientMember,
  openTeamToJoin,
} from "../../runtime/mcp/open-member.ts";
import type { MemberServers } from "../../runtime/mcp/server.ts";
import type { MemberToken } from "../../runtime/mcp/token.ts";
import type { OpenTeam } from "../../runtime/select-team.ts";
import type { TeamRef } from "../../team/ref.ts";
import type { NewClientTeam } from "../../team-tools/mcp/client-tool.ts";
import type { AnyCall } from "../../terminal/call.ts";
import { line } from "../../terminal/output.ts";
import { optionWords } from "../../text/shell-quote.ts";
import { defineCommand, usageError } from "../command.ts";
import { programVersion } from "../version.ts";

/** The highest port. */
const MAX_PORT = 65_535;

export const command = defineCommand({
  name: "mcp",
  summary: "Give any MCP client the team tools, as one member",
  args: [],
  options: {
    as: {
      value: "member",
      summary: "the member that the client acts as (default: $TEAMS_AGENT; no other default)",
    },
    join: { summary: "add the member to the team first, if the team does not have it" },
    http: {
      value: "port",
      summary: "serve HTTP on this port of 127.0.0.1 instead of standard input and output (0: a free port)",
    },
    withoutInbox: {
      summary: "leave out ReadMessages and ReportIdle: the client gets messages in another way",
    },
    config: {
      value: "cli",
      summary: "print the configuration for this client instead",
      choices: MCP_CLIENTS,
    },
  },
  examples: [
    "teams mcp --team review --as ada",
    "teams mcp --config codex --team review --as ada",
    "teams mcp --http 7000 --as ada@review --join",
  ],
  notes:
    "The client starts this command; --config prints what to add to the client's configuration.\n" +
    "As team-lead, it also has the tools to create the team, start teammates, answer plans and delete the team.\n" +
    "Resources show the team, its tasks, the inbox and conversations; prompts tell a model how to lead or join.\n" +
    "With --http, requests need the token of the printed file: Authorization: Bearer <token>.",
  async run(call) {
    const { options, io, out } = call;
    const port = portOption(options);
    if (options.config !== undefined) {
      const find = port === undefined ? openClientLead : openClientMember;
      const { ref, actor } = (options.join ? openTeamToJoin : find)(io.env, options);
      const { program, env } = io;
      const entry =
        port !== undefined
          ? await httpEntry(ref, actor, port)
          : mcpEntry({ ...options, program, env, team: ref.team, agent: actor });
      const { where, format, text } = mcpSnippet(options.config, entry);
      out.answer({ client: options.config, where, format, text, entry }, () => text);
      out.note(line`Add it to: ${where}`);
      if (port !== undefined)
        out.note(
          line`It contains the member's token. Start the server: ${serverCommand(ref.team, actor, port, options)}`,
        );
      return EXIT.done;
    }
    const open = options.join
      ? await joinAsClient(io.env, options, io.cwd)
      : (port === undefined ? openClientLead : openClientMember)(io.env, options);
    return serve(call, open, { ...options, port });
  },
});

/** @throws TeamError INVALID_INPUT */
function portOption({
  http,
  config,
}: {
  readonly http: string | undefined;
  readonly config: string | undefined;
}): number | undefined {
  if (http === undefined) return undefined;
  const port = Number(http);
  if (!/^\d+$/.test(http) || port > MAX_PORT)
    throw usageError(
      command,
      `needs a port from 0 to ${MAX_PORT} after --http, not ${JSON.stringify(http)}.`,
    );
  if (config !== undefined && port === 0)
    throw usageError(
      command,
      "needs a fixed port with --config and --http: the client must find the server there.",
    );
  return port;
}

async function httpEntry(ref: TeamRef, agent: string, port: number): Promise<HttpEntry> {
  const [{ urlOf }, { memberToken }] = await Promise.all([
    import("../../runtime/mcp/http.ts"),
    import("../../runtime/mcp/token.ts"),
  ]);
  return { url: urlOf(port), token: memberToken(ref, agent).token };
}

function serverCommand(
  team: string,
  agent: string,
  port: number,
  { join, withoutInbox }: { readonly join: boolean; readonly withoutInbox: boolean },
): string {
  const switches = `${join ? " --join" : ""}${withoutInbox ? " --without-inbox" : ""}`;
  return `teams mcp --http ${port} ${optionWords("--team", team)} ${optionWords("--as", agent)}${switches}`;
}

interface ServeOptions {
  /** Undefined for standard streams. */
  readonly port: number | undefined;
  readonly withoutInbox: boolean;
}

async function serve(call: AnyCall, open: OpenTeam, { port, withoutInbox }: ServeOptions): Promise<number> {
  const { io, out } = call;
  const [{ openClientTools }, { memberServers }] = await Promise.all([
    import("../../runtime/mcp/client-tools.ts"),
    import("../../runtime/mcp/server.ts"),
  ]);
  const onProblem = (text: string): void => out.note(line`${text}`);
  const signal = io.interruption();
  const tools = await openClientTools(call, open, withoutInbox);
  const http = port === undefined ? undefined : await httpAccess(open, port);
  const createTeam = async (team: NewClientTeam): Promise<void> => {
    await tools.createTeam(team);
    http?.keep();
  };
  const servers = await memberServers({ ...tools, createTeam }, programVersion(io), onProblem);
  try {
    return http === undefined
      ? await serveStreams(call, servers, signal, onProblem)
      : await serveHttp(call, open, servers, { ...http, signal, onProblem });
  } finally {
    await servers.close();
  }
}

async function serveStreams(
  { io, out }: AnyCall,
  { factory, onListen }: MemberServers,
  signal: AbortSignal,
  onProblem: (text: string) => void,
): Promise<number> {
  if (io.terminal.stdin)
    out.note(
      "This server expects MCP messages on standard input. To add it to a client: teams mcp --config <cli>",
    );
  const { serveLines } = await import("../../agent/mcp/line-transport.ts");
  await serveLines(io, factory, signal, onProblem, onListen);
  return signal.aborted ? EXIT.interrupted : EXIT.done;
}

/** The port of a member's HTTP server, and its token, which its clients have in their configuration. */
interface HttpAccess extends MemberToken {
  readonly port: number;
  /** Writes the token for the server's next start, into a team that a client has just created. */
  keep(): void;
}

async function httpAccess({ ref, actor }: OpenTeam, port: number): Promise<HttpAccess> {
  const { keepToken, memberToken } = await import("../../runtime/mcp/token.ts");
  const known = memberToken(ref, actor);
  return { ...known, port, keep: () => keepToken(ref, actor, known.token) };
}

interface HttpServeOptions extends HttpAccess {
  readonly signal: AbortSignal;
  readonly onProblem: (text: string) => void;
}

async function serveHttp(
  { out }: AnyCall,
  open: OpenTeam,
  servers: MemberServers,
  { port, token, file, signal, onProblem }: HttpServeOptions,
): Promise<number> {
  const { serveOnHttp } = await import("../../runtime/mcp/http.ts");
  const server = await serveOnHttp(servers, { port, token, onProblem });
  const { url } = server;
  out.done(
    { url, tokenFile: file, team: open.ref.team, agent: open.actor },
    () =>
      line`${open.actor} of ${open.ref.team} is served at ${url}; the token is in ${file}. Ctrl-C stops the server.`,
  );
  if (!signal.aborted)
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  await server.close();
  return EXIT.interrupted;
}
