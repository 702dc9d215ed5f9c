import type { Client, Tool as Described } from "@modelcontextprotocol/client";
import { messageOf } from "../../errors.ts";
import type { Env } from "../../os/env.ts";
import { httpFetch } from "../../os/http-fetch.ts";
import type { McpServer } from "../../schema/mcp.ts";
import type { AnyTool } from "../tools/tool.ts";
import { expandServer } from "./expand.ts";
import { mcpTool } from "./mcp-tool.ts";

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
  /** Hears of each tool whose name another has already, of a server whose others can be had. */
  readonly onLeftOut: (server: string, tool: string) => void;
  /** Milliseconds for a server to start and say what it has. */
  readonly startTimeoutMs?: number;
}

export interface McpServers {
  readonly tools: readonly AnyTool[];
  /** Ends the programs that were started; when it returns they are gone. */
  close(): Promise<void>;
}

/** Milliseconds for a server to start: a package runner may have to fetch it first. */
const START_TIMEOUT = 30_000;
/** Milliseconds for one call; longer than any that a person would wait for. */
const CALL_TIMEOUT = 600_000;
/** Milliseconds without a byte from an address: a call may think for as long as it may take. */
const QUIET_TIMEOUT = CALL_TIMEOUT;
/** Characters of what a program wrote to standard error that stand in its failure. */
const MAX_STDERR = 500;

/**
 * Connects to all servers side by side and asks each for its tools. One that fails is told of and left out, and takes no
 * other with it.
 */
export async function connectServers(options: McpOptions): Promise<McpServers> {
  const names = Object.keys(options.servers);
  const links = await Promise.all(
    names.map(async (name) => {
      try {
        return await Link.open(name, options);
      } catch (error) {
        options.onFailure(name, messageOf(error));
        return undefined;
      }
    }),
  );
  const open = links.filter((link) => link !== undefined);
  const tools = new Map<string, AnyTool>();
  for (const link of open) {
    for (const described of link.described) {
      const tool = mcpTool(link.name, described, (name, input, signal) => link.call(name, input, signal));
      if (tools.has(tool.name)) options.onLeftOut(link.name, described.name);
      else tools.set(tool.name, tool);
    }
  }
  return {
    tools: [...tools.values()],
    close: async () => {
      await Promise.all(open.map((link) => link.close()));
    },
  };
}

/** The connection to one server; one that broke is made anew by the next call. */
class Link {
  readonly name: string;
  readonly described: readonly Described[];
  readonly #options: McpOptions;
  #client: Client | undefined;

  private constructor(name: string, options: McpOptions, client: Client, described: readonly Described[]) {
    this.name = name;
    this.described = described;
    this.#options = options;
    this.#hold(client);
  }

  /** @throws Error with the reason in words for the person whose server it is */
  static async open(name: string, options: McpOptions): Promise<Link> {
    const client = await connect(name, options);
    try {
      const { tools } = await client.listTools(undefined, {
        timeout: options.startTimeoutMs ?? START_TIMEOUT,
      });
      return new Link(name, options, client, tools);
    } catch (error) {
      await client.close();
      throw error;
    }
  }

  async call(tool: string, input: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<unknown> {
    try {
      this.#client ?? this.#hold(await connect(this.name, this.#options));
      const request = { name: tool, arguments: { ...input } };
      return await this.#client?.callTool(request, { signal, timeout: CALL_TIMEOUT });
    } catch (error) {
      if (signal.aborted) throw error;
      const text = `The MCP server ${this.name} failed: ${messageOf(error)}`;
      return { content: [{ type: "text", text }], isError: true };
    }
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }

  #hold(client: Client): void {
    this.#client = client;
    client.onclose = () => {
      if (this.#client === client) this.#client = undefined;
    };
  }
}

/** Loaded here, so that an agent without servers carries nothing of it. */
async function connect(name: string, options: McpOptions): Promise<Client> {
  const { cwd, env, variables, startTimeoutMs: timeout = START_TIMEOUT } = options;
  const entry = options.servers[name];
  if (entry === undefined) throw new Error("it is not configured any more");
  const server = expandServer(entry, variables);
  const { Client, StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  const client = new Client({ name: "teams", version: "1" });
  if ("url" in server) {
    const { url, headers } = server as Extract<McpServer, { url: string }>;
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers },
      fetch: httpFetch(QUIET_TIMEOUT),
    });
    await client.connect(transport, { timeout });
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
    await client.connect(transport, { timeout });
  } catch (error) {
    await client.close();
    const words = said.trim();
    throw new Error(words === "" ? messageOf(error) : `${messageOf(error)}; it said: ${words}`, {
      cause: error,
    });
  }
  return client;
}
