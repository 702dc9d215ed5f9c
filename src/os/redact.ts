import { type Env, processEnv } from "./env.ts";

/** Variables whose values never reach a file of ours (protocol.md section 6). */
const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD)$/i;
/** Shorter values occur by chance in honest text. */
const MIN_LENGTH = 8;
export const REDACTED = "[secret]";

/** What is to be masked of an environment, in every {@link formsOf form}; the longest first, so that none is left in half. */
export function secretsOf(env: Env): string[] {
  const values = Object.entries(env).flatMap(([name, value = ""]) =>
    SECRET_NAME.test(name) ? formsOf(value) : [],
  );
  return longestFirst(values);
}

/**
 * A value as it is, and each line of one that has several (a private key is printed line by line, and with numbers); each on
 * one line with single blanks, as a summary has it; and each as a text of JSON has it, of JSON within JSON, and of XML.
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

/** Between tags, and in an attribute. */
function asXml(text: string): readonly string[] {
  const body = text.replace(/&/g, "&amp;");
  return [body, body.replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;")];
}

function longestFirst(values: readonly string[]): string[] {
  return [...new Set(values)].sort((a, b) => b.length - a.length);
}

let own: readonly string[] | undefined;

/**
 * The secrets that this process was started with or was told of; looked for once, since a look at every variable takes longer
 * than a message's way into a file.
 */
export function ownSecrets(): readonly string[] {
  own ??= secretsOf(processEnv());
  return own;
}

/** Tells this process of variables that it was not started with, but gives to what it starts. */
export function addSecrets(env: Env): void {
  const more = secretsOf(env);
  if (more.length > 0) own = longestFirst([...ownSecrets(), ...more]);
}

/** The text with every secret in it replaced. */
export function redactText(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, REDACTED), text);
}

/** Masks a text that comes in pieces. */
interface SecretStream {
  /** As much as can be told by now: what may be the start of a secret waits for the next piece. */
  push(piece: string): string;
  /** What still waits, once the text is over. */
  end(): string;
}

/** {@link redactText} for a text that comes in pieces, of which a secret may take several. */
export function redactStream(secrets: readonly string[]): SecretStream {
  let waiting = "";
  return {
    push(piece) {
      const text = redactText(waiting + piece, secrets);
      const sure = text.length - Math.max(0, ...secrets.map((secret) => startedLength(text, secret)));
      waiting = text.slice(sure);
      return text.slice(0, sure);
    },
    end() {
      const rest = waiting;
      waiting = "";
      return rest;
    },
  };
}

/** How many characters at the end of a text are the start of this secret, but not all of it. */
function startedLength(text: string, secret: string): number {
  let length = Math.min(text.length, secret.length - 1);
  while (length > 0 && !text.endsWith(secret.slice(0, length))) length -= 1;
  return length;
}

/** A JSON value with every secret in its strings replaced; masked before it is written, where no escape hides one. */
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
 * The environment of a command that an agent, a hook or a server of tools runs: the key to the model is no business of it
 * (protocol.md section 6).
 * @param passed names of those that it may have all the same (`teams.passSecrets`)
 */
export function withoutModelCredentials(env: Env, passed: readonly string[] = []): Env {
  const secret = /^ANTHROPIC_(.*(KEY|TOKEN|SECRET|PASSWORD)|CUSTOM_HEADERS)$/i;
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => passed.includes(name) || !secret.test(name)),
  );
}
