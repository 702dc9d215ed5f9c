import { type ChildProcess, spawn } from "node:child_process";
import { Readable, Transform, Writable } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import {
  type ClientConnection,
  type CreateElicitationRequest,
  type CreateElicitationResponse,
  client,
  type InitializeRequest,
  ndJsonStream,
  type RequestPermissionRequest,
  type RequestPermissionResponse,
  type SessionNotification,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { onTestFinished } from "vitest";
import type { Env } from "../../../src/os/env.ts";
import { TEAMS } from "../processes/built-program.ts";
import { eventually } from "../timing/eventually.ts";

/** A permission request that waits for the test's answer. */
export interface PendingPermission {
  readonly params: RequestPermissionRequest;
  /** Aborts when the agent withdraws the request. */
  readonly signal: AbortSignal;
  choose(optionId: string): void;
  /** Resolves once the dismissal is written: a later prompt then follows it. */
  dismiss(): Promise<void>;
}

export interface AcpClient {
  readonly child: ChildProcess;
  readonly agent: ClientConnection["agent"];
  readonly updates: SessionNotification[];
  readonly asked: PendingPermission[];
  /** Every message, in order: `→` to the agent, `←` from it. */
  readonly traffic: string[];
  readonly stderr: () => string;
  /** The exit code. */
  readonly exited: Promise<number | null>;
  /** Answers the agent's forms; without it, every form is cancelled. `capabilities` announces forms. */
  onForm?: (params: CreateElicitationRequest) => CreateElicitationResponse;
  /** Waits for the first update of this kind that matches. */
  update<K extends SessionUpdate["sessionUpdate"]>(
    kind: K,
    matches?: (update: Extract<SessionUpdate, { sessionUpdate: K }>) => boolean,
  ): Promise<Extract<SessionUpdate, { sessionUpdate: K }>>;
  /** Waits for a permission request that no earlier call has returned. */
  request(): Promise<PendingPermission>;
  /** Returns the lead's text so far, of one session or of all. */
  said(sessionId?: string): string;
  /** Sends a raw line to the agent. */
  write(line: string): void;
}

interface AcpClientOptions {
  readonly words?: readonly string[];
  readonly env: Env;
  readonly cwd: string;
  readonly capabilities?: InitializeRequest["clientCapabilities"];
}

/** Starts the built program as an agent, and connects the client of the SDK to it. */
export async function acpClient({
  words = [],
  env,
  cwd,
  capabilities,
}: AcpClientOptions): Promise<AcpClient> {
  const child = spawn(process.execPath, [TEAMS, "acp", ...words], { env: { ...env }, cwd, stdio: "pipe" });
  const exited = new Promise<number | null>((resolve) => child.once("exit", (code) => resolve(code)));
  onTestFinished(async () => {
    child.stdin.end();
    child.kill("SIGTERM");
    await exited;
  });
  let errors = "";
  let hasClosed = false;
  child.once("close", () => {
    hasClosed = true;
  });
  /** Throws if the program has ended: the awaited message can no longer arrive. */
  const assertRunning = (): undefined => {
    if (hasClosed)
      throw new Error(`teams acp ended with ${child.exitCode ?? child.signalCode}. Its stderr: ${errors}`);
  };
  child.stderr.on("data", (chunk: Buffer) => {
    errors += chunk.toString();
  });
  child.stdin.on("error", () => undefined);
  const traffic: string[] = [];
  /** The ids of requests that the test sent as raw lines. */
  const ownIds = new Set<unknown>();
  /** The SDK's client reports an error for an answer to a request that it did not send. */
  const isAnswerToTest = (line: string): boolean => {
    const { method, id } = fieldsOf(line);
    return method === undefined && (id === undefined || id === null || ownIds.has(id));
  };
  const recorded = (sign: string, isKept: (line: string) => boolean) => {
    const decoder = new StringDecoder("utf8");
    let rest = "";
    return new Transform({
      transform(chunk: Buffer, _encoding, done) {
        const lines = `${rest}${decoder.write(chunk)}`.split("\n");
        rest = lines.pop() ?? "";
        traffic.push(...lines.map((line) => `${sign} ${line}`));
        const kept = lines.filter(isKept);
        done(null, kept.length === 0 ? undefined : `${kept.join("\n")}\n`);
      },
    });
  };
  const toAgent = recorded("→", () => true);
  toAgent.pipe(child.stdin);
  const fromAgent = recorded("←", (line) => !isAnswerToTest(line));
  const updates: SessionNotification[] = [];
  const asked: PendingPermission[] = [];
  let returned = 0;
  const connection = client({ name: "test" })
    .onNotification("session/update", ({ params }) => void updates.push(params))
    .onRequest(
      "session/request_permission",
      ({ params, signal }) =>
        new Promise<RequestPermissionResponse>((resolve) => {
          asked.push({
            params,
            signal,
            choose: (optionId) => resolve({ outcome: { outcome: "selected", optionId } }),
            dismiss: async () => {
              const written = traffic.length;
              resolve({ outcome: { outcome: "cancelled" } });
              await eventually("the dismissal", () =>
                traffic.slice(written).some((line) => /^→.*"outcome":"cancelled"/.test(line)),
              );
            },
          });
        }),
    )
    .onRequest("elicitation/create", ({ params }) => self.onForm?.(params) ?? { action: "cancel" })
    .connect(
      ndJsonStream(
        Writable.toWeb(toAgent) as WritableStream<Uint8Array>,
        Readable.toWeb(child.stdout.pipe(fromAgent)) as ReadableStream<Uint8Array>,
      ),
    );
  const self: AcpClient = {
    child,
    agent: connection.agent,
    updates,
    asked,
    traffic,
    stderr: () => errors,
    exited,
    update: (kind, matches = () => true) =>
      eventually(`an update ${kind}`, () => {
        const found = updates.find(
          ({ update }) => update.sessionUpdate === kind && matches(update as Parameters<typeof matches>[0]),
        );
        return (found?.update as Parameters<typeof matches>[0] | undefined) ?? assertRunning();
      }),
    request: () =>
      eventually("a permission request", () => {
        const next = asked[returned];
        if (next !== undefined) returned += 1;
        return next ?? assertRunning();
      }),
    said: (sessionId) =>
      updates
        .filter((one) => sessionId === undefined || one.sessionId === sessionId)
        .map(({ update }) =>
          update.sessionUpdate === "agent_message_chunk" && update.content.type === "text"
            ? update.content.text
            : "",
        )
        .join(""),
    write: (line) => {
      ownIds.add(fieldsOf(line).id);
      toAgent.write(`${line}\n`);
    },
  };
  await connection.agent.request("initialize", {
    protocolVersion: 1,
    clientInfo: { name: "test", version: "1" },
    clientCapabilities: capabilities ?? {},
  });
  return self;
}

interface MessageFields {
  readonly method?: unknown;
  readonly id?: unknown;
}

/** Returns the fields of a message; an empty object for a line that is not a JSON object. */
function fieldsOf(line: string): MessageFields {
  try {
    return Object(JSON.parse(line)) as MessageFields;
  } catch {
    return {};
  }
}

/** The parameters of a prompt with one text. */
export function promptOf(sessionId: string, text: string) {
  return { sessionId, prompt: [{ type: "text" as const, text }] };
}
