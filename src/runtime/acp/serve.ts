import { Readable } from "node:stream";
import type { AnyMessage, Stream } from "@agentclientprotocol/sdk";
import { wellFormedStream } from "../../adapter/acp/well-formed-stream.ts";
import { messageOf } from "../../errors.ts";
import { teamsHome } from "../../team/ref.ts";
import type { AnyCall } from "../../terminal/call.ts";
import type { ClientAbilities } from "./client-peer.ts";
import { MAX_MESSAGE_BYTES } from "./limits.ts";
import { answering } from "./rpc-errors.ts";
import { listSessions } from "./session-list.ts";
import { Sessions, type SessionsOptions } from "./sessions.ts";

interface ServeOptions extends Pick<SessionsOptions, "plan" | "isAlone"> {
  readonly version: string;
}

/**
 * Serves teams to a client of the Agent Client Protocol, version 1, on the standard streams, until the client disconnects or a signal
 * arrives. Then keeps the teams, and ends their teammates.
 * @returns why the connection failed; undefined if it was closed
 */
export async function serveAcp(
  call: AnyCall,
  { plan, isAlone, version }: ServeOptions,
): Promise<string | undefined> {
  const { io } = call;
  const signal = io.interruption();
  const { agent, ndJsonStream, RequestError } = await import("@agentclientprotocol/sdk");
  const answered = answering(RequestError);
  let abilities: ClientAbilities = {};
  let failure: string | undefined;
  const fail = (error: Error): void => {
    failure = error.message;
    connection.close(error);
  };
  const sessions = new Sessions({
    ...{ call, plan, isAlone },
    onStalled: () => fail(new Error("the client does not read its updates")),
  });
  const connection = agent({ name: "teams" })
    .onNotification("session/cancel", ({ params }) => sessions.cancel(params.sessionId))
    .onRequest("session/prompt", ({ params }) => answered(() => sessions.prompt(params)))
    .onRequest("initialize", ({ params }) => {
      abilities = { clientCapabilities: params.clientCapabilities };
      return initialized(version);
    })
    .onRequest("session/new", ({ params, client }) =>
      answered(() => sessions.create(params, client, abilities)),
    )
    .onRequest("session/load", ({ params, client }) =>
      answered(() => sessions.resume(params, client, { abilities, replays: true })),
    )
    .onRequest("session/resume", ({ params, client }) =>
      answered(() => sessions.resume(params, client, { abilities, replays: false })),
    )
    .onRequest("session/list", ({ params }) => answered(async () => listSessions(teamsHome(io.env), params)))
    .onRequest("session/set_mode", ({ params }) =>
      answered(async () => {
        await sessions.setMode(params.sessionId, params.modeId);
        return {};
      }),
    )
    .onRequest("session/close", ({ params }) =>
      answered(async () => {
        await sessions.close(params.sessionId);
        return {};
      }),
    )
    .onRequest("session/delete", ({ params }) =>
      answered(async () => {
        await sessions.delete(params.sessionId);
        return {};
      }),
    )
    .connect(
      wellFormedStream(
        inOrder(ndJsonStream(outputOf(call, fail), inputOf(call), { maxMessageBytes: MAX_MESSAGE_BYTES })),
      ),
    );
  const leave = (): void => connection.close();
  signal.addEventListener("abort", leave);
  if (signal.aborted) leave();
  await connection.closed;
  signal.removeEventListener("abort", leave);
  const { reason } = connection.signal;
  // The end of the input is not a failure, and has no reason.
  if (failure === undefined && isFailure(reason)) failure = messageOf(reason);
  await sessions.closeAll(signal.reason);
  return failure;
}

/** Answers every requested version with version 1; the client then decides whether to continue. */
function initialized(version: string) {
  return {
    protocolVersion: 1,
    agentInfo: { name: "teams", title: "teams", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: false, audio: false, embeddedContext: true },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
    },
    authMethods: [],
  };
}

/** Whether the connection failed: a message was too long, or the input could not be read. */
function isFailure(reason: unknown): boolean {
  return reason instanceof Error && reason.message !== "ACP connection closed";
}

/** Delivers a message only after the handler of the previous message has begun: a cancellation applies to the prompts before it. */
function inOrder({ readable, writable }: Stream): Stream {
  const paced = new TransformStream<AnyMessage, AnyMessage>({
    async transform(message, controller) {
      controller.enqueue(message);
      await new Promise<void>((resolve) => setImmediate(resolve));
    },
  });
  return { readable: readable.pipeThrough(paced), writable };
}

function inputOf({ io }: AnyCall): ReadableStream<Uint8Array> {
  return Readable.toWeb(Readable.from(io.bytesIn())) as ReadableStream<Uint8Array>;
}

/** Writes to stdout, and waits for a slow client. */
function outputOf({ io }: AnyCall, fail: (error: Error) => void): WritableStream<Uint8Array> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  io.bytesOut(readable as unknown as AsyncIterable<Uint8Array>).catch((error: unknown) =>
    fail(error instanceof Error ? error : new Error(String(error))),
  );
  return writable;
}
