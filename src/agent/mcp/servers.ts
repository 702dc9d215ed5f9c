import type { Client, Tool as Described } from "@modelcontextprotocol/client";
import { messageOf } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { httpFetch } from "../../os/net/http-fetch.ts";
import type { McpServer } from "../../schema/mcp-server.ts";
import type { AnyTool } from "../tool.ts";
import { type ListedTools, listTools } from "./list-tools.ts";
import { mcpTool } from "./mcp-tool.ts";

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g;

/**
 * A server with every `${NAME}` and `${NAME:-default}` in its texts replaced. Pure.
 * @throws Error that names a variable which is not set and has no default
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
  return value.replace(VARIABLE, (_, name: string, otherwise?: string) => {
    const found = env[name] ?? otherwise;
    if (found === undefined) throw new Error(`the variable ${name} is not set`);
    return found;
  });
}

export interface McpOptions {
  /** By name, in the order in which their tools are told. */
  readonly servers: Readonly<Record<string, McpServer>>;
  readonly cwd: string;
  /** What a program is started with, besides what its entry says; without anything secret. */
  readonly env: Env;
  /** Where the entries' `${NAME}` are looked up: with what is secret, since who wrote the entry asks for it by name. */
  readonly variables: Env;
  /** Hears of each server that cannot be had, once, with its reason. */
  readonly onFailure: (server: string, reason: string) => void;
  /** Hears of each tool that cannot be had of a server whose others can, with why as the end of a sentence about it. */
  readonly onLeftOut: (server: string, tool: string, why: string) => void;
  /** Milliseconds for a server to start and say what it has. */
  readonly startTimeoutMs?: number;
}

interface McpServers {
  readonly tools: readonly AnyTool[];
  /** Ends the programs that were started; when it returns they are gone. */
  close(): Promise<void>;
}

/** Milliseconds for a server to start: a package runner may have to fetch it first. */
const START_TIMEOUT = 30_000;
/** Milliseconds for one call; longer than any that a person would wait for. */
const CALL_TIMEOUT = 600_000;
/** Milliseconds without a byte from an address: a call may think for as long as it may take. */
const SILENCE_TIMEOUT = CALL_TIMEOUT;
/** Characters of what a program wrote to standard error that stand in its failure. */
const MAX_STDERR = 500;
/** Tools of one server, and characters of what one takes: each call of the model pays for all of them. */
const MAX_TOOLS = 200;
const MAX_SCHEMA = 50_000;

/**
 * Connects to all servers side by side and asks each for its tools. One that fails is told of and left out, and takes no
 * other with it.
 */
export async function connectServers(options: McpOptions): Promise<McpServers> {
  const names = Object.keys(options.servers);
  const links = await Promise.all(
    names.map(async (name) => {
      try {
        return await ServerConnection.open(name, options);
      } catch (error) {
        options.onFailure(name, messageOf(error));
        return undefined;
      }
    }),
  );
  const open = links.filter((link) => link !== undefined);
  const tools = new Map<string, AnyTool>();
  for (const link of open) {
    for (const name of link.listed.malformed)
      options.onLeftOut(link.name, name, "its description is not that of a tool");
    for (const [i, described] of link.listed.tools.entries()) {
      const tool = mcpTool(link.name, described, (name, input, signal) => link.call(name, input, signal));
      const flaw = leaveOutReason(described, i, tools.has(tool.name));
      if (flaw === undefined) tools.set(tool.name, tool);
      else options.onLeftOut(link.name, described.name, flaw);
      if (i === MAX_TOOLS) break;
    }
  }
  return {
    tools: [...tools.values()],
    close: async () => {
      await Promise.all(open.map((link) => link.close()));
    },
  };
}

/** Why a tool is left out, as the end of a sentence about it. @param place among its server's */
function leaveOutReason({ inputSchema }: Described, place: number, isNamed: boolean): string | undefined {
  if (place >= MAX_TOOLS) return `and so are those after it: a server has ${MAX_TOOLS} at most`;
  if (isNamed) return "another has its name";
  return JSON.stringify(inputSchema).length > MAX_SCHEMA
    ? `what it takes is described in more than ${MAX_SCHEMA} characters`
    : undefined;
}

/** The connection to one server; one that broke is made anew by the next call. */
class ServerConnection {
  readonly name: string;
  readonly listed: ListedTools;
  readonly #options: McpOptions;
  #client: Client | undefined;
  readonly #ended = new AbortController();
  /** Of all calls that come while it is made anew. */
  #opening: Promise<void> | undefined;

  private constructor(name: string, options: McpOptions, client: Client, listed: ListedTools) {
    this.name = name;
    this.listed = listed;
    this.#options = options;
    this.#hold(client);
  }

  /** @throws Error with the reason in words for the person whose server it is */
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
      if (this.#client === undefined) await this.#open();
      const request = { name: tool, arguments: { ...input } };
      return await this.#client?.callTool(request, { signal, timeout: CALL_TIMEOUT });
    } catch (error) {
      if (signal.aborted) throw error;
      const text = `The MCP server ${this.name} failed: ${messageOf(error)}`;
      return { content: [{ type: "text", text }], isError: true };
    }
  }

  async close(): Promise<void> {
    this.#ended.abort();
    // One that cannot be opened has said so to its call.
    await this.#opening?.catch(() => undefined);
    await this.#client?.close();
  }

  #open(): Promise<void> {
    this.#opening ??= connect(this.name, this.#options, this.#ended.signal)
      .then((client) => this.#hold(client))
      .finally(() => {
        this.#opening = undefined;
      });
    return this.#opening;
  }

  #hold(client: Client): void {
    this.#client = client;
    client.onclose = () => {
      if (this.#client === client) this.#client = undefined;
    };
  }
}

/** Loaded here, so that an agent without servers carries nothing of it. */
async function connect(name: string, options: McpOptions, signal?: AbortSignal): Promise<Client> {
  const { cwd, env, variables, startTimeoutMs: timeout = START_TIMEOUT } = options;
  const how = { timeout, ...(signal === undefined ? {} : { signal }) };
  const entry = options.servers[name];
  if (entry === undefined) throw new Error("it is not configured any more");
  const server = expandServer(entry, variables);
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client({ name: "teams", version: "1" });
  if ("url" in server) {
    const { url, headers } = server as Extract<McpServer, { url: string }>;
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: httpFetch(SILENCE_TIMEOUT),
    });
    await client.connect(transport, how);
    return client;
  }
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const defined = Object.entries({ ...env, ...server.env }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  const transport = new StdioClientTransport({
    command: server.command,
    args: server.args,
    cwd,
    env: Object.fromEntries(defined),
    // Not into the pane: it is told where the server fails.
    stderr: "pipe",
  });
  let said = "";
  transport.stderr?.on("data", (bytes: Buffer) => {
    said = `${said}${bytes.toString("utf8")}`.slice(-MAX_STDERR);
  });
  try {
    await client.connect(transport, how);
  } catch (error) {
    await client.close();
    const words = said.trim();
    throw new Error(words === "" ? messageOf(error) : `${messageOf(error)}; it said: ${words}`, {
      cause: error,
    });
  }
  return client;
}
