import { dirname, join, resolve } from "node:path";
import * as z from "zod/mini";
import { homeDirectory } from "../../os/files/app-directories.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { type PathStat, pathStat, writeUserFile } from "../../os/files/user-files.ts";
import { redactText, secretsOf } from "../../os/redact.ts";
import type { ToolContext, ToolResult } from "../tool.ts";

/** Returns the schema of a path argument. */
export function pathInput(description: string): z.ZodMiniString {
  return z
    .string()
    .check(z.minLength(1), z.refine(hasNoNul, "contains a NUL character"), z.describe(description));
}

/** Returns the schema of a text for a file. Half of a surrogate pair would match inside a character, and cannot be written as UTF-8. */
export function textInput(description: string): z.ZodMiniString {
  return z.string().check(
    z.refine((text) => text.isWellFormed(), "contains half of a surrogate pair"),
    z.describe(description),
  );
}

export function hasNoNul(text: string): boolean {
  return !text.includes("\0");
}

/** Returns the absolute path for a path from a model: relative to the working directory, `~` is the home directory. */
export function absolutePath(path: string, { cwd, env }: Pick<ToolContext, "cwd" | "env">): string {
  if (path === "~" || path.startsWith("~/")) return join(homeDirectory(env), path.slice(1));
  return resolve(cwd, path);
}

export function failed(content: string): ToolResult {
  return { content, isError: true };
}

/** Records that the agent has read the current version of a file. */
export function markSeen(path: string, stat: PathStat, context: ToolContext): void {
  context.seenFiles.set(realPathOf(path), stat.mtimeMs);
}

/** Writes a file for the agent. Its plan is a private file of teams, written with secrets redacted. */
export function writeOwn(path: string, text: string, context: ToolContext): void {
  if (isPlan(path, context)) {
    const real = realPathOf(path);
    ensureDir(dirname(real));
    replaceFile(real, redactText(text, secretsOf(context.env)));
  } else writeUserFile(path, text);
  markSeen(path, pathStat(path), context);
}

function isPlan(path: string, { planFile }: ToolContext): boolean {
  return planFile !== undefined && realPathOf(path) === realPathOf(planFile);
}

/** Returns why an existing file cannot be changed: it was not read, or has changed since; undefined if it can. */
export function unchangeableReason(path: string, stat: PathStat, context: ToolContext): string | undefined {
  const unread = unreadReason(path, context);
  if (unread !== undefined) return unread;
  const seen = context.seenFiles.get(realPathOf(path));
  if (seen === undefined || seen === stat.mtimeMs) return undefined;
  return `${path} has changed since it was read. Read it again before changing it.`;
}

/** Returns why a file that the agent has not read cannot be changed; undefined if the agent has read it. Does not read the file. */
export function unreadReason(path: string, context: ToolContext): string | undefined {
  // Only this agent writes its plan, and may have read it in an earlier process.
  if (context.seenFiles.has(realPathOf(path)) || isPlan(path, context)) return undefined;
  return `${path} has not been read yet. Read it first, then change it.`;
}

/**
 * Removes the files that permission rules deny from search results, and returns a line with their number.
 * @param isWithheld called once for each file
 */
export function withoutDenied<T>(
  found: readonly T[],
  fileOf: (item: T) => string,
  isWithheld: ((path: string) => boolean) | undefined,
): { readonly kept: readonly T[]; readonly note: string[] } {
  if (isWithheld === undefined) return { kept: found, note: [] };
  const withheld = new Set([...new Set(found.map(fileOf))].filter(isWithheld));
  if (withheld.size === 0) return { kept: found, note: [] };
  const count = withheld.size === 1 ? "1 file" : `${withheld.size} files`;
  return {
    kept: found.filter((item) => !withheld.has(fileOf(item))),
    note: [`(left out by permission rules: ${count})`],
  };
}
