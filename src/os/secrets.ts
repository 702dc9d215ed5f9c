import type { Env } from "./env.ts";

/** Variables whose values never reach a file of ours (protocol.md section 6). */
const SECRET_NAME = /(KEY|TOKEN|SECRET|PASSWORD)$/i;
/** Shorter values occur by chance in honest text. */
const MIN_LENGTH = 8;
const MASK = "[secret]";

/** The values of an environment that are to be masked, the longest first, so that none is left in half. */
export function secretsOf(env: Env): string[] {
  const values = Object.entries(env).flatMap(([name, value]) =>
    SECRET_NAME.test(name) && value !== undefined && value.length >= MIN_LENGTH ? [value] : [],
  );
  return [...new Set(values)].sort((a, b) => b.length - a.length);
}

/** The text with every secret in it replaced. */
export function maskText(text: string, secrets: readonly string[]): string {
  return secrets.reduce((masked, secret) => masked.replaceAll(secret, MASK), text);
}

/** A JSON value with every secret in its strings replaced; masked before it is written, where no escape hides one. */
export function maskValue<T>(value: T, secrets: readonly string[]): T {
  return secrets.length === 0 ? value : (maskAny(value, secrets) as T);
}

function maskAny(value: unknown, secrets: readonly string[]): unknown {
  if (typeof value === "string") return maskText(value, secrets);
  if (Array.isArray(value)) return value.map((item) => maskAny(item, secrets));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [maskText(key, secrets), maskAny(item, secrets)]),
  );
}
