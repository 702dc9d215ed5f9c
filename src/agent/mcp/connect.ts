import type { Client } from "@modelcontextprotocol/client";
import { messageOf } from "../../errors.ts";
import { after } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { httpFetch } from "../../os/net/http-fetch.ts";
import { OutputTail } from "../../os/process/output-tail.ts";
import type { Program, Sandbox } from "../../os/sandbox/sandbox.ts";
import type { McpServer } from "../../schema/mcp-server.ts";

/** The servers of an agent, and what their programs may do. */
export interface ConnectOptions {
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
  /** Time limit in milliseconds for a server to start and list its tools. */
  readonly startTimeoutMs?: number;
}

/** Time limit in milliseconds for a server to start: a package runner may have to download it first. */
const START_TIMEOUT = 30_000;
/** Time limit in milliseconds for one call; longer than a person would wait. */
export const CALL_TIMEOUT = 600_000;
/** Milliseconds without a byte from an HTTP server. As long as a call, because a server may be silent while it works. */
const SILENCE_TIMEOUT = CALL_TIMEOUT;
/** Maximum characters of standard error in the error of a failed start. */
const MAX_STDERR = 500;

export function startLimitOf({ startTimeoutMs = START_TIMEOUT }: ConnectOptions): number {
  return startTimeoutMs;
}

/** Starts a connection. @param start gets a signal that aborts at the time limit for a start, or when `ended` aborts */
export async function withinStartLimit<T>(
  options: ConnectOptions,
  ended: AbortSignal | undefined,
  start: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limitMs = startLimitOf(options);
  const late = new AbortController();
  const cancel = after(limitMs, () =>
    late.abort(new Error(`it did not start in time (${limitMs / 1000} s)`)),
  );
  try {
    return await start(ended === undefined ? late.signal : AbortSignal.any([ended, late.signal]));
  } finally {
    cancel();
  }
}

/** Connects to a server. The library is loaded here, because an agent without servers does not need it. */
export async function connect(name: string, options: ConnectOptions, signal: AbortSignal): Promise<Client> {
  const { cwd, variables, isLiteral } = options;
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
    await open(client, transport, options, signal);
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
    await open(client, transport, options, signal);
  } catch (error) {
    await client.close();
    const printed = stderr.text.trim();
    const message = printed === "" ? messageOf(error) : `${messageOf(error)}; stderr: ${printed}`;
    throw new Error(message, { cause: error });
  }
  return client;
}

/**
 * Opens the connection of a client. Closes it if the signal aborts first: the library limits the time of its first request, but not
 * that of the notification after it.
 */
async function open(
  client: Client,
  transport: Parameters<Client["connect"]>[0],
  options: ConnectOptions,
  signal: AbortSignal,
): Promise<void> {
  let closing: Promise<void> | undefined;
  const close = (): void => {
    // The caller reports that the server did not start.
    closing = client.close().catch(() => undefined);
  };
  signal.throwIfAborted();
  signal.addEventListener("abort", close, { once: true });
  try {
    await client.connect(transport, { timeout: startLimitOf(options) });
  } catch (error) {
    await closing;
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener("abort", close);
  }
}

/** Returns the program of a server, in the sandbox unless the server is excepted. The sandbox keeps the variables of its entry. */
async function programOf(
  name: string,
  { command, args, env: own }: Extract<McpServer, { command: string }>,
  { env, cwd, sandbox, isOutside }: ConnectOptions,
): Promise<Program> {
  const program = { file: command, args, env: { ...env, ...own }, keeps: Object.keys(own) };
  return sandbox === undefined || isOutside?.(name) ? program : sandbox.wrap(program, cwd);
}

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
