import type { Client, Tool as Described } from "@modelcontextprotocol/client";
import { messageOf } from "../../errors.ts";
import { after } from "../../os/clock.ts";
import { isNestedTooDeeply } from "../../schema/guards/nesting.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import type { AnyTool } from "../tool.ts";
import { CALL_TIMEOUT, type ConnectOptions, connect, startLimitOf, withinStartLimit } from "./connect.ts";
import { type ListedTools, listTools } from "./list-tools.ts";
import { mcpTool, mcpToolName } from "./mcp-tool.ts";

export interface McpOptions extends ConnectOptions {
  /** Called once for each unavailable server. */
  readonly onFailure: (server: string, reason: string) => void;
  /** Called for each unusable tool of an available server. `why` is the end of a sentence about the tool. */
  readonly onLeftOut: (server: string, tool: string, why: string) => void;
  /** Called once for each server that has not listed its tools after `slowAfterMs`. @param limitMs the time limit for its start */
  readonly onSlow: (server: string, limitMs: number) => void;
  /** Milliseconds after which a server counts as slow. */
  readonly slowAfterMs?: number;
}

interface McpServers {
  readonly tools: readonly AnyTool[];
  /** Ends the servers' programs. They are gone when it returns. */
  close(): Promise<void>;
}

/** Milliseconds after which a person wonders why an agent does not start. */
const SLOW_AFTER = 3_000;
/** Maximum tools of one server, and characters of one input schema, because each model call pays for them. */
const MAX_TOOLS = 200;
const MAX_SCHEMA = 50_000;
/** The keys of an input that a model's server accepts. It refuses every request that offers a tool with another key. */
const ACCEPTED_KEY = /^[a-zA-Z0-9_.-]{1,64}$/;
/** Maximum characters of a name or a key in a message to a person. */
const MAX_SHOWN = 80;

/** Connects to all servers in parallel and lists their tools. A failed server is reported and left out; the others still work. */
export async function connectServers(options: McpOptions): Promise<McpServers> {
  const names = Object.keys(options.servers);
  const connections = await Promise.all(
    names.map(async (name) => {
      const cancel = after(options.slowAfterMs ?? SLOW_AFTER, () =>
        options.onSlow(name, startLimitOf(options)),
      );
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
    const call = connection.call.bind(connection);
    for (const name of connection.listed.malformed)
      options.onLeftOut(connection.name, name, "its description is invalid");
    for (const [i, described] of connection.listed.tools.entries()) {
      const name = mcpToolName(connection.name, described.name);
      const reason = leaveOutReason(described, i, tools.has(name));
      if (reason === undefined) tools.set(name, mcpTool(connection.name, described, call));
      else options.onLeftOut(connection.name, shortened(described.name, MAX_SHOWN), reason);
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
  if (isNestedTooDeeply(inputSchema)) return "its input schema is nested too deeply";
  const key = Object.keys(inputSchema.properties ?? {}).find((name) => !ACCEPTED_KEY.test(name));
  if (key !== undefined)
    return `a model's server refuses the key ${JSON.stringify(shortened(key, MAX_SHOWN))} of its input`;
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
  static open(name: string, options: McpOptions): Promise<ServerConnection> {
    return withinStartLimit(options, undefined, async (signal) => {
      const client = await connect(name, options, signal);
      try {
        return new ServerConnection(name, options, client, await listTools(client, signal));
      } catch (error) {
        await client.close();
        throw signal.aborted ? signal.reason : error;
      }
    });
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
    const start = (signal: AbortSignal): Promise<Client> => connect(this.name, this.#options, signal);
    this.#opening ??= withinStartLimit(this.#options, this.#ended.signal, start)
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
