import { percentDecoded } from "../text/percent-decoded.ts";
import { type Env, processEnv } from "./env.ts";

/** Variables whose values must not reach a file that `teams` writes (protocol.md section 6). */
const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD)$/i;
/** Variables with the URL of a proxy, which may contain credentials: `https_proxy`, `npm_config_proxy`. */
const PROXY_NAME = /(^|_)PROXY$/i;
/** The variable with headers for the model's server, one per line, which often contain its credentials. */
const HEADERS_NAME = /^ANTHROPIC_CUSTOM_HEADERS$/i;
/** Names of headers whose value is a secret even if it looks like a word. */
const SECRET_HEADER = /auth|key|token|secret|password|cookie|credential/i;

/** Returns whether a variable with this name contains a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/** Returns whether a variable with this name contains the URL of a proxy, or the hosts that need none. */
export function isProxyName(name: string): boolean {
  return PROXY_NAME.test(name);
}

/** Shorter values may occur in any text by chance. */
const MIN_LENGTH = 8;
export const REDACTED = "[secret]";

/** Returns the secrets of an environment in every {@link formsOf form}, longest first, so that no part of one remains. */
export function secretsOf(env: Env): string[] {
  const values = Object.entries(env).flatMap(([name, value = ""]) => {
    if (HEADERS_NAME.test(name)) return [value, ...headerSecrets(value)].flatMap(formsOf);
    if (PROXY_NAME.test(name)) return proxySecrets(value).flatMap(formsOf);
    return SECRET_NAME.test(name) ? formsOf(value) : [];
  });
  return longestFirst(values);
}

/** Returns the secret values of headers, with and without a scheme such as `Bearer`. A plain word such as `production` stays readable. */
function headerSecrets(headers: string): string[] {
  return headers.split("\n").flatMap((line) => {
    const [, name = "", value = ""] = /^([^:]*):\s*(.*?)\s*$/.exec(line) ?? [];
    const isSecret = SECRET_HEADER.test(name) || /\d/.test(value) || value.length >= 20;
    return isSecret ? [value, value.replace(/^\w+\s+/, "")] : [];
  });
}

/** Returns the credentials in the URL of a proxy: as they are written there, decoded, and as in a header. */
function proxySecrets(url: string): string[] {
  const [, written, server = ""] = /^(?:[a-z][a-z\d+.-]*:\/\/)?(.+)@([^@]*)$/i.exec(url.trim()) ?? [];
  if (written === undefined) return [];
  const plain = percentDecoded(written);
  const words = [written, plain].flatMap((text) => [text, text.replace(/^[^:]*:/, "")]);
  // Short credentials are recognised only together with their server.
  return [...words, `${written}@${server.replace(/[/?#].*$/, "")}`, Buffer.from(plain).toString("base64")];
}

/**
 * Returns the forms of a value: the value and each of its lines (a private key may be printed line by line, with line
 * numbers); each with single spaces instead of line ends, as in a summary; each escaped for JSON, JSON in JSON, and XML.
 */
function formsOf(value: string): string[] {
  const lines = value.includes("\n") ? value.split("\n") : [];
  const plain = [value, ...lines.map((line) => line.trim())].filter(({ length }) => length >= MIN_LENGTH);
  return plain
    .flatMap((text) => [text, text.replace(/\s+/g, " ").trim()])
    .flatMap((text) => [text, asJson(text), asJson(asJson(text)), ...asXml(text)]);
}

function asJson(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Escapes a text as element content and as an attribute. */
function asXml(text: string): readonly string[] {
  const body = text.replace(/&/g, "&amp;");
  // Messages escape only text that reads as an entity.
  const message = text.replace(/&(?=(?:lt|gt|quot|amp);)/g, "&amp;");
  return [message, body, body.replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;")];
}

function longestFirst(values: readonly string[]): string[] {
  return [...new Set(values)].sort((a, b) => b.length - a.length);
}

let own: readonly string[] | undefined;

/**
 * Returns the secrets of this process's environment and those of {@link addSecrets}. Collected once, since checking every
 * variable takes longer than writing a message.
 */
export function ownSecrets(): readonly string[] {
  own ??= secretsOf(processEnv());
  return own;
}

/** Adds secrets of variables that this process passes to child processes but was not started with. */
export function addSecrets(env: Env): void {
  const more = secretsOf(env);
  if (more.length > 0) own = longestFirst([...ownSecrets(), ...more]);
}

/** Replaces every secret in a text. */
export function redactText(text: string, secrets: readonly string[]): string {
  return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, REDACTED), text);
}

/** Redacts a text that arrives in pieces. */
interface SecretStream {
  /** Returns the redacted text so far, except an end that may be the start of a secret, or is half of a surrogate pair. */
  push(piece: string): string;
  /** Returns the rest, after the last piece. */
  end(): string;
}

/** Returns a {@link redactText} for a text that arrives in pieces; a secret may span several pieces. */
export function redactStream(secrets: readonly string[]): SecretStream {
  let waiting = "";
  return {
    push(piece) {
      const text = redactText(waiting + piece, secrets);
      const half = /[\ud800-\udbff]$/.test(text) ? 1 : 0;
      const safe = text.length - Math.max(half, ...secrets.map((secret) => startedLength(text, secret)));
      waiting = text.slice(safe);
      return text.slice(0, safe);
    },
    end() {
      const rest = waiting;
      waiting = "";
      return rest;
    },
  };
}

/** Returns how many characters at the end of a text are the start of this secret, but not all of it. */
function startedLength(text: string, secret: string): number {
  let length = Math.min(text.length, secret.length - 1);
  while (length > 0 && !text.endsWith(secret.slice(0, length))) length -= 1;
  return length;
}

/** Replaces every secret in the strings of a JSON value; call it before the value is serialized, as escapes would hide secrets. */
export function redactValue<T>(value: T, secrets: readonly string[]): T {
  return secrets.length === 0 ? value : (redactAny(value, secrets) as T);
}

function redactAny(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return redactText(value, secrets);
  if (Array.isArray(value)) return value.map((item) => redactAny(item, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [redactText(key, secrets), redactAny(item, secrets)]),
  );
}

/**
 * Returns the environment for a command of an agent, a hook or an MCP server: without the credentials of the model
 * (protocol.md section 6).
 * @param passed names of variables to keep anyway (`teams.passSecrets`)
 */
export function withoutModelCredentials(env: Env, passed: readonly string[] = []): Env {
  const secret = /^ANTHROPIC_(.*(KEY|TOKEN|SECRET|PASSWORD)|CUSTOM_HEADERS)$/i;
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => passed.includes(name) || !secret.test(name)),
  );
}
