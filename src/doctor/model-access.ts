import { isServerAddress, keyProblem, withoutCredentials } from "../agent/model/server-access.ts";
import { messageOf } from "../errors.ts";
import { pause } from "../os/clock.ts";
import type { Env } from "../os/env.ts";
import { httpFetch } from "../os/net/http-fetch.ts";
import { type Finding, fail, ok, warn } from "./finding.ts";
import { routeText } from "./proxies.ts";

const NAME = "model access";
const VENDOR = "https://api.anthropic.com";
/** Time limit in milliseconds for the request of `--online`. */
const TIMEOUT_MS = 10_000;

/** Checks whether a key is set. Sends no request. */
export function checkModel(env: Env): Finding {
  const base = env.ANTHROPIC_BASE_URL;
  if (base && !isServerAddress(base)) {
    return fail(
      NAME,
      `ANTHROPIC_BASE_URL is not an HTTP URL: ${withoutCredentials(base)}`,
      "Set it to a URL, such as http://localhost:8080.",
    );
  }
  const problem = keyProblem(env.ANTHROPIC_API_KEY, env.ANTHROPIC_AUTH_TOKEN);
  if (problem !== undefined)
    return fail(NAME, problem, "Copy the key again, without quotation marks around it.");
  if (env.ANTHROPIC_API_KEY || env.ANTHROPIC_AUTH_TOKEN) {
    const route = routeText(base || VENDOR, env);
    return ok(
      NAME,
      `a key is set${base ? `, for ${withoutCredentials(base)}` : ""}${route} (tried only with --online)`,
    );
  }
  if (base) return ok(NAME, `${withoutCredentials(base)}, without a key${routeText(base, env)}`);
  const text = "no key is set: teams run plays the built-in playbook";
  return warn(
    NAME,
    text,
    "Set ANTHROPIC_API_KEY to use a model, or ANTHROPIC_BASE_URL to use your own server.",
  );
}

/** Asks the server for its list of models, which costs nothing and shows whether the key is valid. */
export async function checkModelOnline(env: Env): Promise<Finding> {
  const offline = checkModel(env);
  if (offline.level !== "ok") return offline;
  const base = (env.ANTHROPIC_BASE_URL || VENDOR).replace(/\/+$/, "");
  try {
    const status = await statusOf(`${base}/v1/models?limit=1`, env);
    return judgeStatus(withoutCredentials(base), status, routeText(base, env));
  } catch (error) {
    return fail(
      NAME,
      `${withoutCredentials(base)} cannot be reached: ${messageOf(error)}`,
      "Check the network, the proxy (HTTPS_PROXY, NO_PROXY) and ANTHROPIC_BASE_URL.",
    );
  }
}

function judgeStatus(base: string, status: number, route: string): Finding {
  if (status < 300) return ok(NAME, `${base} answers and accepts the key${route}`);
  if (status === 401 || status === 403) {
    return fail(
      NAME,
      `${base} rejects the key (${status})${route}`,
      "Check ANTHROPIC_API_KEY; you may need a new key.",
    );
  }
  if (status === 404 && base.endsWith("/v1")) {
    return warn(
      NAME,
      `${base} does not know ${base}/v1/models (404)${route}`,
      "Remove /v1 from the end of ANTHROPIC_BASE_URL: every request adds it.",
    );
  }
  // The user's own server need not list models.
  if (status === 404) return ok(NAME, `${base} answers${route}`);
  return warn(NAME, `${base} answers with ${status}${route}`, "Try again later; the key was not checked.");
}

/** Agents send the token only without a key. */
function headersOf({ ANTHROPIC_API_KEY: key, ANTHROPIC_AUTH_TOKEN: token }: Env): Record<string, string> {
  const credential: Record<string, string> = key
    ? { "x-api-key": key }
    : token
      ? { authorization: `Bearer ${token}` }
      : {};
  return { "anthropic-version": "2023-06-01", ...credential };
}

async function statusOf(url: string, env: Env): Promise<number> {
  const timeout = new AbortController();
  const answered = new AbortController();
  void pause(TIMEOUT_MS, answered.signal).then((end) => {
    if (end === "elapsed") timeout.abort(new Error(`no answer within ${TIMEOUT_MS / 1000} s`));
  });
  try {
    const get = httpFetch(TIMEOUT_MS, env);
    const response = await get(url, { headers: headersOf(env), signal: timeout.signal });
    await response.body?.cancel();
    return response.status;
  } finally {
    answered.abort();
  }
}
