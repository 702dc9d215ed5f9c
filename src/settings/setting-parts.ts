import { createHash } from "node:crypto";

export type Raw = Readonly<Record<string, unknown>>;

/** A piece of a project's file that can widen what agents may do: one allow rule, one variable, one server, one agent file. */
export interface Part {
  /** The setting that a person reads: `permissions.allow`, `env`, `server`. */
  readonly label: string;
  /** Identifies the piece within its file, except in lists, whose items differ by their value. */
  readonly key: string;
  readonly value: unknown;
}

/** Lists of `permissions` that can only take rights away. */
export const RESTRICTION_KEYS: readonly string[] = ["deny", "ask"];

export const BYPASS_FORBIDDEN = { disableBypassPermissionsMode: "disable" };

export function forbidsBypass(permissions: Raw): boolean {
  return permissions.disableBypassPermissionsMode === "disable";
}

/**
 * Splits a settings file into restrictions and parts, and removes the parts that `keeps` rejects. Items of lists and entries of
 * objects are separate parts: removing an item needs no confirmation, and a new item needs only its own.
 */
export function filterSettings(
  raw: Raw,
  keeps: (part: Part) => boolean,
): { readonly kept: Raw; readonly removed: readonly Part[] } {
  const removed: Part[] = [];
  const keep = (label: string, key: string, value: unknown): boolean => {
    const part = { label, key, value };
    const isKept = keeps(part);
    if (!isKept) removed.push(part);
    return isKept;
  };
  const items = (label: string, key: string, value: unknown): unknown =>
    Array.isArray(value) ? value.filter((item) => keep(label, key, item)) : undefined;
  const entries = (label: string, value: Raw): Raw =>
    Object.fromEntries(Object.entries(value).filter(([key, item]) => keep(label, `${label}.${key}`, item)));
  const permissions = (value: Raw): Raw =>
    Object.fromEntries(
      Object.entries(value).flatMap(([key, item]) => {
        if (RESTRICTION_KEYS.includes(key) || (key in BYPASS_FORBIDDEN && forbidsBypass(value)))
          return [[key, item]];
        const label = `permissions.${key}`;
        if (Array.isArray(item)) return [[key, items(label, label, item)]];
        return keep(label, label, item) ? [[key, item]] : [];
      }),
    );
  const hooks = (value: Raw): Raw =>
    Object.fromEntries(
      Object.entries(value).flatMap(([event, groups]) => {
        if (Array.isArray(groups)) return [[event, items("hooks", `hooks.${event}`, groups)]];
        return keep("hooks", `hooks.${event}`, groups) ? [[event, groups]] : [];
      }),
    );
  const kept = Object.entries(raw).flatMap(([key, value]): [string, unknown][] => {
    if (key === "$schema") return [];
    if (isObject(value)) {
      if (key === "permissions") return [[key, permissions(value)]];
      if (key === "hooks") return [[key, hooks(value)]];
      if (["env", "mcpServers", "teams"].includes(key)) return [[key, entries(key, value)]];
    }
    return keep(key, key, value) ? [[key, value]] : [];
  });
  return { kept: Object.fromEntries(kept), removed };
}

/**
 * Returns the hash of a part as it was parsed, so that the applied value is always the compared one. Undefined for a value that
 * is nested too deeply; such a part is never confirmed.
 */
export function partHash({ key, value }: Part): string | undefined {
  try {
    return createHash("sha256")
      .update(canonicalJson([key, value]))
      .digest("hex");
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Formats a value as JSON in which the order of keys makes no difference. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : inner,
  );
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
