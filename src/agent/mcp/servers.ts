import type { Client, Tool as Described } from "@modelcontextprotocol/client";
import { messageOf } from "../../errors.ts";
import { after } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { httpFetch } from "../../os/net/http-fetch.ts";
import { OutputTail } from "../../os/process/output-tail.ts";
import type { Program, Sandbox } from "../../os/sandbox/sandbox.ts";
import type { McpServer } from "../../schema/mcp-server.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import type { AnyTool } from "../tool.ts";
import { type ListedTools, listTools } from "./list-tools.ts";
import { mcpTool } from "./mcp-tool.ts";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * Replaces every `${NAME}` and `${NAME:-default}` in the texts of a server's entry. Pure.
 * @throws Error that names an unset variable without a default
 */
function expandServer(server: McpServer, env: Env): McpServer {
  const text = (value: string): string => expandText(value, env);
  const all = (values: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, text(value)]));
  if ("url" in server) {
    const { url, headers } = server as Extract<McpServer, { url: string }>;
    return { ...server, type: "http", url: text(url), headers: all(headers) };
  }
  const { command, args } = server;
  return { ...server, command: text(command), args: args.map(text), env: all(server.env) };
}

function expandText(value: string, env: Env): string {
  return value.replace(VARIABLE, (_, name: string, fallback?: string) => {
    const found = env[name] ?? fallback;
    if (found === undefined) throw new Error(`the variable ${name} is not set`);
    return found;
  });
}

export interface McpOptions {
  /** The servers by name, in the order of their tools in the model's list. */
  readonly servers: Readonly<Record<string, McpServer>>;
  readonly cwd: string;
  /** Environment of a server's program, in addition to its entry. Contains no secrets. */
  readonly env: Env;
  /** Values for `${NAME}` in the entries, and the proxies. Includes secrets, because the author of an entry asks for them by name. */
  readonly variables: Env;
  /** The sandbox for programs of servers, except those that `isOutside` names. */
  readonly sandbox?: Sandbox | undefined;
  isOutside?(server: string): boolean;
  /** Whether the entry of a server contains no references: `${NAME}` in it is plain text. */
  isLiteral?(server: string): boolean;
  /** Called once for each unavailable server. */
  readonly onFailure: (server: string, reason: string) => void;
  /** Called for each unusable tool of an available server. `why` is the end of a sentence about the tool. */
  readonly onLeftOut: (server: string, tool: string, why: string) => void;
  /** Called once for each server that has not listed its tools after `slowAfterMs`. @param limitMs the time limit for its start */
  readonly onSlow: (server: string, limitMs: number) => void;
  /** Milliseconds after which a server counts as slow. */
  readonly slowAfterMs?: number;
  /** Time limit in milliseconds for a server to start and list its tools. */
  readonly startTimeoutMs?: number;
}

interface McpServers {
  readonly tools: readonly AnyTool[];
  /** Ends the servers' programs. They are gone when it returns. */
  close(): Promise<void>;
}

/** Time limit in milliseconds for a server to start: a package runner may have to download it first. */
const START_TIMEOUT = 30_000;
/** Milliseconds after which a person wonders why an agent does not start. */
const SLOW_AFTER = 3_000;
/** Time limit in milliseconds for one call; longer than a person would wait. */
const CALL_TIMEOUT = 600_000;
/** Milliseconds without a byte from an HTTP server. As long as a call, because a server may be silent while it works. */
const SILENCE_TIMEOUT = CALL_TIMEOUT;
/** Maximum characters of standard error in the error of a failed start. */
const MAX_STDERR = 500;
/** Maximum tools of one server, and characters of one input schema, because each model call pays for them. */
const MAX_TOOLS = 200;
const MAX_SCHEMA = 50_000;
/** The keys of an input that a model's server accepts. It refuses every request that offers a tool with another key. */
const ACCEPTED_KEY = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Maximum characters of a key in a message to a person. */
const MAX_KEY = 80;

/** Connects to all servers in parallel and lists their tools. A failed server is reported and left out; the others still work. */
export async function connectServers(options: McpOptions): Promise<McpServers> {
  const names = Object.keys(options.servers);
  const connections = await Promise.all(
    names.map(async (name) => {
      const limit = options.startTimeoutMs ?? START_TIMEOUT;
      const cancel = after(options.slowAfterMs ?? SLOW_AFTER, () => options.onSlow(name, limit));
      try {
        return await ServerConnection.open(name, options);
      } catch (error) {
        options.onFailure(name, messageOf(error));
        return undefined;
      } finally {
        cancel();
      }
    }),
  );
  const connected = connections.filter((connection) => connection !== undefined);
  const tools = new Map<string, AnyTool>();
  for (const connection of connected) {
    for (const name of connection.listed.malformed)
      options.onLeftOut(connection.name, name, "its description is invalid");
    for (const [i, described] of connection.listed.tools.entries()) {
      const tool = mcpTool(connection.name, described, (name, input, signal) =>
        connection.call(name, input, signal),
      );
      const reason = leaveOutReason(described, i, tools.has(tool.name));
      if (reason === undefined) tools.set(tool.name, tool);
      else options.onLeftOut(connection.name, described.name, reason);
      if (i === MAX_TOOLS) break;
    }
  }
  return {
    tools: [...tools.values()],
    close: async () => {
      await Promise.all(connected.map((connection) => connection.close()));
    },
  };
}

/** Returns why a tool is left out, as the end of a sentence about it. @param place index among its server's tools */
function leaveOutReason({ inputSchema }: Described, place: number, isNamed: boolean): string | undefined {
  if (place >= MAX_TOOLS) return `the server has more than ${MAX_TOOLS} tools, and the rest are left out`;
  if (isNamed) return "another tool has the same name";
  const key = Object.keys(inputSchema.properties ?? {}).find((name) => !ACCEPTED_KEY.test(name));
  if (key !== undefined)
    return `a model's server refuses the key ${JSON.stringify(shortened(key, MAX_KEY))} of its input`;
  return JSON.stringify(inputSchema).length > MAX_SCHEMA
    ? `its input schema has more than ${MAX_SCHEMA} characters`
    : undefined;
}

/** The connection to one server. The next call reconnects a broken one. */
class ServerConnection {
  readonly name: string;
  readonly listed: ListedTools;
  readonly #options: McpOptions;
  #client: Client | undefined;
  /** The number of running calls of each client. */
  readonly #calls = new WeakMap<Client, number>();
  /** Clients whose session the server has lost. They stay open until their calls end: the server refuses these calls, too. */
  readonly #lost = new Set<Client>();
  readonly #ended = new AbortController();
  /** The running attempt to reconnect, shared by all calls. */
  #opening: Promise<void> | undefined;

  private constructor(name: string, options: McpOptions, client: Client, listed: ListedTools) {
    this.name = name;
    this.listed = listed;
    this.#options = options;
    this.#setClient(client);
  }

  /** @throws Error with a reason for the user */
  static async open(name: string, options: McpOptions): Promise<ServerConnection> {
    const client = await connect(name, options);
    try {
      const listed = await listTools(client, options.startTimeoutMs ?? START_TIMEOUT);
      return new ServerConnection(name, options, client, listed);
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  async call(tool: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown> {
    try {
      return await this.#callTool({ name: tool, arguments: { ...input } }, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      const text = `The MCP server ${this.name} failed: ${messageOf(error)}`;
      return { content: [{ type: "text", text }], isError: true };
    }
  }

  /** @param isAgain true after the server has refused the call once, because it did not know the session */
  async #callTool(
    request: Parameters<Client["callTool"]>[0],
    signal: AbortSignal,
    isAgain = false,
  ): Promise<unknown> {
    if (this.#client === undefined) await this.#open();
    const client = this.#client;
    if (client === undefined) throw new Error("it has closed the connection");
    this.#calls.set(client, (this.#calls.get(client) ?? 0) + 1);
    try {
      return await client.callTool(request, { signal, timeout: CALL_TIMEOUT });
    } catch (error) {
      if (isAgain || signal.aborted || !hasLostSession(client, error)) throw error;
      this.#lost.add(client);
      if (this.#client === client) this.#client = undefined;
    } finally {
      await this.#endCall(client);
    }
    return this.#callTool(request, signal, true);
  }

  /** Counts a call as ended. Closes a client without a session after its last one. */
  async #endCall(client: Client): Promise<void> {
    const left = (this.#calls.get(client) ?? 1) - 1;
    this.#calls.set(client, left);
    if (left === 0 && this.#lost.delete(client)) await client.close();
  }

  async close(): Promise<void> {
    this.#ended.abort();
    // A failed attempt to reconnect is reported by its call.
    await this.#opening?.catch(() => undefined);
    await Promise.all([this.#client, ...this.#lost].map((client) => client?.close()));
  }

  #open(): Promise<void> {
    this.#opening ??= connect(this.name, this.#options, this.#ended.signal)
      .then((client) => this.#setClient(client))
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  #setClient(client: Client): void {
    this.#client = client;
    client.onclose = () => {
      if (this.#client === client) this.#client = undefined;
    };
  }
}

/**
 * Whether an HTTP server has refused a call because it does not know the session, for example since it was restarted: 404 in the
 * protocol, 400 from many servers. The call has not run.
 */
function hasLostSession({ transport }: Client, error: unknown): boolean {
  if (transport?.sessionId === undefined || !(error instanceof Error)) return false;
  const { status, message } = error as Error & { readonly status?: unknown };
  return status === 404 || (status === 400 && /session|not initialized/i.test(message));
}

/** Connects to a server. The library is loaded here, because an agent without servers does not need it. */
async function connect(name: string, options: McpOptions, signal?: AbortSignal): Promise<Client> {
  const { cwd, variables, isLiteral, startTimeoutMs: timeout = START_TIMEOUT } = options;
  const requestOptions = { timeout, ...(signal === undefined ? {} : { signal }) };
  const entry = options.servers[name];
  if (entry === undefined) throw new Error("it is no longer configured");
  const server = isLiteral?.(name) === true ? entry : expandServer(entry, variables);
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client({ name: "teams", version: "1" });
  if ("url" in server) {
    const { url, headers } = server as Extract<McpServer, { url: string }>;
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: httpFetch(SILENCE_TIMEOUT, variables),
    });
    await client.connect(transport, requestOptions);
    return client;
  }
  const program = await programOf(name, server, options);
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const defined = Object.entries(program.env).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  const transport = new StdioClientTransport({
    command: program.file,
    args: [...program.args],
    cwd,
    env: Object.fromEntries(defined),
    // Keeps stderr out of the pane; the error of a failed start includes it.
    stderr: "pipe",
  });
  const stderr = new OutputTail(MAX_STDERR);
  transport.stderr?.on("data", (bytes: Buffer) => stderr.add(bytes));
  try {
    await client.connect(transport, requestOptions);
  } catch (error) {
    await client.close();
    const printed = stderr.text.trim();
    const message = printed === "" ? messageOf(error) : `${messageOf(error)}; stderr: ${printed}`;
    throw new Error(message, { cause: error });
  }
  return client;
}

/** Returns the program of a server, in the sandbox unless the server is excepted. The sandbox keeps the variables of its entry. */
async function programOf(
  name: string,
  { command, args, env: own }: Extract<McpServer, { command: string }>,
  { env, cwd, sandbox, isOutside }: McpOptions,
): Promise<Program> {
  const program = { file: command, args, env: { ...env, ...own }, keeps: Object.keys(own) };
  return sandbox === undefined || isOutside?.(name) ? program : sandbox.wrap(program, cwd);
}
