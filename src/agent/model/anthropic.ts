import type { Anthropic } from "@anthropic-ai/sdk";
import { messageOf } from "../../errors.ts";
import { type Clock, pause, systemClock } from "../../os/clock.ts";
import type { Env } from "../../os/env.ts";
import { httpFetch } from "../../os/net/http-fetch.ts";
import { isLastingProxyError } from "../../os/net/proxy-error.ts";
import type { TokenCount } from "../../schema/tokens.ts";
import { costOf, type ModelFacts, USUAL_WINDOW } from "./catalog.ts";
import { failureKind, tokenLimit } from "./failures.ts";
import { type Model, ModelError, type ModelEvent, type ModelFailure, type ModelRequest } from "./model.ts";
import { limitResetMs } from "./rate-limits.ts";
import { isLimited, nextDelay, retryAfterMs } from "./retry-policy.ts";
import { isServerAddress, keyProblem, withoutCredentials } from "./server-access.ts";
import { wireRequest } from "./wire-request.ts";
import { AnswerBuilder } from "./wire-response.ts";

export interface AnthropicOptions {
  /** The id by which the server knows the model. */
  readonly model: string;
  readonly apiKey?: string;
  /** A bearer token; ignored if there is a key. */
  readonly authToken?: string;
  /** URL of a server with the Messages API. Default: Anthropic's server. */
  readonly baseUrl?: string;
  /** The model's context window and prices. */
  readonly facts?: ModelFacts;
  /** The environment that names the proxies. Without it, no proxy is used. */
  readonly env?: Env;
  /** Returns a number from 0 to 1, for the jitter of delays. */
  readonly random?: () => number;
  /** Waits, or returns early if the signal aborts. */
  readonly sleep?: (ms: number, signal: AbortSignal) => Promise<unknown>;
  readonly clock?: Clock;
}

const ANTHROPIC_URL = "https://api.anthropic.com";
/** Maximum tokens of one answer. A server with a lower limit names it in an error. */
const MAX_ANSWER_TOKENS = 32_000;
/** Largest share of a window for an answer: servers count `max_tokens` towards the window. */
const ANSWER_SHARE = 1 / 4;
/**
 * Milliseconds without a byte after which a connection fails. Anthropic's server sends pings while a model thinks; a local
 * server may read a long prompt for minutes before its first word.
 */
const IDLE_TIMEOUT_MS = 300_000;

/** Creates a model that uses the Messages API. The SDK is loaded on the first call; retries are done here, not in the SDK. */
export function anthropicModel(options: AnthropicOptions): Model {
  const { model, facts = {}, random = Math.random, sleep = pause, clock = systemClock } = options;
  const { window = USUAL_WINDOW } = facts;
  let maxTokens = Math.min(MAX_ANSWER_TOKENS, Math.floor(window * ANSWER_SHARE));
  let client: Promise<Anthropic> | undefined;
  return {
    name: model,
    window,
    cost: (usage) => costOf(facts, usage),
    async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
      signal.throwIfAborted();
      client ??= connect(options);
      for (let attempt = 1; ; attempt += 1) {
        const params = wireRequest(request, model, maxTokens);
        const failure = yield* tryOnce(await client, params, signal, clock);
        if (failure === undefined) return;
        if (failure.usage !== undefined) yield { type: "spent", usage: failure.usage };
        signal.throwIfAborted();
        const { kind, status, message } = failure.error;
        const limit = answerLimit(message);
        if (limit !== undefined && limit < maxTokens) {
          maxTokens = limit;
          continue;
        }
        const delayMs = nextDelay({ ...failure, kind, attempt }, random());
        if (delayMs === undefined) throw finalError(failure, attempt, clock.now());
        if (failure.hasText) yield { type: "restart" };
        yield { type: "retry", attempt, delayMs, status, reason: message.replace(/\.$/, "") };
        await sleep(delayMs, signal);
        signal.throwIfAborted();
      }
    },
  };
}

/** Returns the error of a call that is not retried. */
function finalError(failure: Failure, attempt: number, now: number): ModelError {
  const { error, retryAfterMs: asked } = failure;
  if (!isLimited({ ...failure, kind: error.kind, attempt })) return error;
  const resumeAt = asked === undefined ? undefined : now + asked;
  return new ModelError("limited", error.message, error.status, { cause: error, resumeAt });
}

/** Extracts the server's limit from its error about a too large `max_tokens`. */
function answerLimit(message: string): number | undefined {
  const limit = /max_tokens: \d+ > (\d+)/.exec(message)?.[1];
  return limit === undefined ? undefined : Number(limit);
}

async function connect({ apiKey, authToken, baseUrl, env = {} }: AnthropicOptions): Promise<Anthropic> {
  const { Anthropic } = await import("@anthropic-ai/sdk");
  if (!apiKey && !authToken && baseUrl === undefined) {
    throw new ModelError(
      "auth",
      "No API key is set; nothing was sent. Set ANTHROPIC_API_KEY, or use --model scripted.",
    );
  }
  if (baseUrl !== undefined && !isServerAddress(baseUrl)) {
    const address = withoutCredentials(baseUrl);
    const message = `ANTHROPIC_BASE_URL is not an HTTP URL: ${address}. Nothing was sent; set it to a URL such as http://localhost:8080.`;
    throw new ModelError("invalid_request", message);
  }
  const damage = keyProblem(apiKey, authToken);
  // Without this check, the invalid header would count as a lost connection, and be retried for minutes.
  if (damage !== undefined) throw new ModelError("auth", `${damage}. Copy the key again; nothing was sent.`);
  // The SDK needs a credential. Without one it looks for credentials elsewhere; a custom server may need none.
  const key = apiKey || (authToken ? undefined : "none");
  return new Anthropic({
    ...(key === undefined ? { authToken: authToken ?? "" } : { apiKey: key }),
    baseURL: baseUrl ?? ANTHROPIC_URL,
    // The SDK sends a key as a bearer token, which Anthropic's server accepts; other servers know the older x-api-key.
    ...(key === undefined || baseUrl === undefined ? {} : { defaultHeaders: { "x-api-key": key } }),
    maxRetries: 0,
    // The SDK must not write its log to the pane.
    logLevel: "off",
    fetch: httpFetch(IDLE_TIMEOUT_MS, env),
  });
}

interface Failure {
  readonly error: ModelError;
  readonly retryAfterMs: number | undefined;
  readonly shouldRetry: boolean | undefined;
  /** Whether this attempt has yielded text. */
  readonly hasText: boolean;
  /** Tokens of this attempt, if the server had begun to answer. */
  readonly usage: TokenCount | undefined;
}

/** Makes one attempt; the caller decides whether to retry. */
async function* tryOnce(
  client: Anthropic,
  params: Anthropic.MessageCreateParamsStreaming,
  signal: AbortSignal,
  clock: Clock,
): AsyncGenerator<ModelEvent, Failure | undefined> {
  const answer = new AnswerBuilder();
  let hasText = false;
  try {
    const { data, response } = await client.messages.create(params, { signal }).withResponse();
    if (isPage(response)) throw new ModelError("invalid_request", NO_API);
    for await (const event of data) {
      const text = answer.add(event);
      const thought = answer.thoughtEndedBy(event);
      if (thought !== undefined) yield { type: "thinking", text: thought };
      if (text === "") continue;
      hasText = true;
      yield { type: "text", text };
    }
    signal.throwIfAborted();
    if (!answer.begun && isJson(response)) throw new ModelError("invalid_request", NO_STREAM);
    if (!answer.isWhole) throw new ModelError("connection", "The server's answer was cut off.");
  } catch (error) {
    const failure = failureOf(error, clock.now(), client.baseURL, answer.begun);
    return { ...failure, hasText, usage: answer.begun ? answer.tokens : undefined };
  }
  yield {
    type: "message",
    message: { role: "assistant", content: answer.content },
    stopReason: answer.reason,
    usage: answer.tokens,
  };
  return undefined;
}

/** Added to the error that most users see first. */
const WHERE_KEYS_ARE =
  ". Check ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, and ANTHROPIC_BASE_URL. To test them: teams doctor --online";

/** Added if a custom server answers 404, e.g. because ANTHROPIC_BASE_URL ends in `/v1`. */
const WHERE_THE_SERVER_IS = ". Check ANTHROPIC_BASE_URL. To test it: teams doctor --online";

/** Returns true for a web page, such as a login page: it is not an API server, and a retry cannot help. */
function isPage(response: Response): boolean {
  return contentType(response).startsWith("text/html");
}

/** Returns true for JSON: without any event, it is the answer of a server that cannot stream. */
function isJson(response: Response): boolean {
  return contentType(response).startsWith("application/json");
}

function contentType({ headers }: Response): string {
  return (headers.get("content-type") ?? "").toLowerCase();
}

const NO_API = "The server answered with a web page, so it is not an API server. Check ANTHROPIC_BASE_URL.";
const NO_STREAM = "The server answered with JSON, but teams needs an event stream. Check ANTHROPIC_BASE_URL.";

/** The fields of the SDK's errors; its classes are not imported, since it is loaded lazily. */
interface ApiErrorLike {
  readonly status?: unknown;
  readonly headers?: { get(name: string): string | null };
  readonly error?: { readonly error?: { readonly type?: unknown; readonly message?: unknown } };
}

/** The status for each type of error inside a stream, where no HTTP status follows. */
const STREAM_ERRORS: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  authentication_error: 401,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 529,
};

function failureOf(
  thrown: unknown,
  now: number,
  server: string,
  hasBegun: boolean,
): Omit<Failure, "hasText" | "usage"> {
  if (thrown instanceof ModelError) return { error: thrown, retryAfterMs: undefined, shouldRetry: undefined };
  const { status: httpStatus, headers, error: body } = thrown as ApiErrorLike;
  const type = String(body?.error?.type ?? "");
  const status = typeof httpStatus === "number" ? httpStatus : STREAM_ERRORS[type];
  const given = body?.error?.message;
  const message = typeof given === "string" && given !== "" ? given : withoutPage(causeOf(thrown), status);
  const kind = status === undefined ? unansweredKind(thrown) : failureKind(status, message);
  const isUnknown = status === 404 && server !== ANTHROPIC_URL && message !== NO_API;
  const where = kind === "auth" ? WHERE_KEYS_ARE : isUnknown ? WHERE_THE_SERVER_IS : "";
  const what = where === "" ? message : message.replace(/\.$/, "");
  const unanswered = `The model's server ${hasBegun ? "began to answer, but failed" : "did not answer"}: ${message}`;
  const text = status === undefined ? unanswered : `${status} ${what}${where}`;
  const advice = headers?.get("x-should-retry");
  return {
    error: new ModelError(kind, text, status, { cause: thrown, limit: tokenLimit(message) }),
    retryAfterMs: retryAfterMs(headers, now) ?? resetOf(kind, headers, message, now),
    shouldRetry: advice === "false" ? false : undefined,
  };
}

function resetOf(
  kind: ModelFailure,
  headers: ApiErrorLike["headers"],
  message: string,
  now: number,
): number | undefined {
  return kind === "limited" || kind === "rate_limited" ? limitResetMs(headers, message, now) : undefined;
}

/** Shortens the SDK's message, which repeats the status and the whole body if the body is not an API error. */
function withoutPage(text: string, status: number | undefined): string {
  const body = text.startsWith(`${status} `) ? text.slice(`${status} `.length) : text;
  return /^\s*<(!doctype|html|\?xml)/i.test(body) ? NO_API : body;
}

/** A call that a proxy refuses permanently is not retried. */
function unansweredKind(thrown: unknown): ModelFailure {
  const isLasting = thrown instanceof Error && isLastingProxyError(thrown.cause);
  return isLasting ? "invalid_request" : "connection";
}

/** The SDK's message is only "Connection error."; the reason is in the cause. */
function causeOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? thrown.cause : undefined;
  return cause === undefined ? messageOf(thrown) : messageOf(cause);
}
