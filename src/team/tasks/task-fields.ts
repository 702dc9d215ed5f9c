import { ownSecrets, redactText } from "../../os/redact.ts";
import type { Task } from "../../schema/task.ts";
import { wellFormed } from "../../text/characters/well-formed.ts";

/**
 * Fields of a task that only `teams` knows. They are kept in its metadata, which other programs preserve. Another program can
 * write anything here, so no command in it ever runs: `verify-record.ts` keeps the confirmed ones.
 */
export interface TaskFields {
  /** The command that must pass before the task is completed; empty removes it. */
  readonly verify?: string | undefined;
  /** The member that reviews the completed task; empty removes it. */
  readonly reviewer?: string | undefined;
  /** Patterns of the files that the task changes, relative to the project's directory; none removes them. */
  readonly touches?: readonly string[] | undefined;
}

/** The keys of these fields in a task's metadata, which no user sets by hand. */
export const FIELD_KEYS = ["_verify", "_reviewer", "_touches"] as const;

/** Limits of the patterns of one task: their number, and the characters of each. */
export const MAX_PATTERNS = 50;
export const MAX_PATTERN = 300;

/** Returns a subject or a description as the task's file stores it: with secrets redacted, as well-formed Unicode. */
export function keptText(text: string): string {
  return wellFormed(redactText(text, ownSecrets()));
}

/** True if the task's file has one of these fields. */
export function hasFields({ metadata }: Task): boolean {
  return metadata !== undefined && FIELD_KEYS.some((key) => metadata[key] !== undefined);
}

/** Returns the reviewer's name. */
export function reviewerOf({ metadata }: Task): string | undefined {
  return textIn(metadata?._reviewer);
}

/** Returns the command that the task's file names. It is only a proposal: see `verify-record.ts`. */
export function proposedVerify({ metadata }: Task): string | undefined {
  return textIn(metadata?._verify);
}

/** Returns the patterns of the files that the task changes. Ignores unusable patterns of other programs. */
export function touchesOf({ metadata }: Task): readonly string[] {
  const given = metadata?._touches;
  if (!Array.isArray(given)) return [];
  return given
    .slice(0, MAX_PATTERNS)
    .filter((one): one is string => typeof one === "string" && one !== "" && one.length <= MAX_PATTERN);
}

function textIn(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value : undefined;
}

/** Returns metadata with some fields changed; secrets are redacted. */
export function withFields(
  metadata: Readonly<Record<string, unknown>> | undefined,
  { verify, reviewer, touches }: TaskFields,
): Record<string, unknown> | undefined {
  const secrets = ownSecrets();
  const change: Record<string, unknown> = {
    ...(verify === undefined ? {} : { _verify: redactText(verify, secrets) || undefined }),
    ...(reviewer === undefined ? {} : { _reviewer: reviewer || undefined }),
    ...(touches === undefined ? {} : { _touches: touches.length === 0 ? undefined : touches }),
  };
  const all = Object.entries({ ...metadata, ...change }).filter(([, value]) => value !== undefined);
  return all.length === 0 ? undefined : Object.fromEntries(all);
}
