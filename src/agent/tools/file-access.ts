import { dirname, join, resolve } from "node:path";
import * as z from "zod/mini";
import { replaceFile } from "../../os/files/atomic-write.ts";
import { ensureDir } from "../../os/files/fs.ts";
import { realPathOf } from "../../os/files/real-path.ts";
import { type FileLook, lookAt, writeUserFile } from "../../os/files/user-files.ts";
import { maskText, secretsOf } from "../../os/redact.ts";
import type { ToolContext, ToolResult } from "../tool.ts";

/** What a model may write for a path. */
export function pathInput(description: string): z.ZodMiniString {
  return z
    .string()
    .check(z.minLength(1), z.refine(hasNoNul, "holds a NUL character"), z.describe(description));
}

export function hasNoNul(text: string): boolean {
  return !text.includes("\0");
}

/** A path as a model wrote it, absolute: from the working directory, `~` at home. */
export function absolutePath(path: string, { cwd, env }: Pick<ToolContext, "cwd" | "env">): string {
  const home = env.HOME;
  if (home && (path === "~" || path.startsWith("~/"))) return join(home, path.slice(1));
  return resolve(cwd, path);
}

export function failed(content: string): ToolResult {
  return { content, isError: true };
}

/** Remembers that the agent knows a file as it is now. */
export function markSeen(path: string, look: FileLook, context: ToolContext): void {
  context.seenFiles.set(realPathOf(path), look.mtimeMs);
}

/** Writes a file as the agent's own doing; its plan is a file of ours, which nobody else reads, with no secret in it. */
export function writeOwn(path: string, text: string, context: ToolContext): void {
  if (isPlan(path, context)) {
    const real = realPathOf(path);
    ensureDir(dirname(real));
    replaceFile(real, maskText(text, secretsOf(context.env)));
  } else writeUserFile(path, text);
  markSeen(path, lookAt(path), context);
}

function isPlan(path: string, { planFile }: ToolContext): boolean {
  return planFile !== undefined && realPathOf(path) === realPathOf(planFile);
}

/** What stands in the way of changing a file that exists: it was not read, or is not what was read. */
export function unseenFlaw(path: string, look: FileLook, context: ToolContext): string | undefined {
  const seen = context.seenFiles.get(realPathOf(path));
  // Nobody else writes its plan, of which an earlier process of this agent may have known.
  if (seen === undefined && isPlan(path, context)) return undefined;
  if (seen === undefined) return `${path} has not been read yet. Read it first, then change it.`;
  if (seen === look.mtimeMs) return undefined;
  return `${path} has changed since it was read. Read it again before changing it.`;
}

/**
 * What a search found without the files that rules keep from being read, and a line that says how many those are.
 * @param isWithheld asked once for each file
 */
export function keepBack<T>(
  found: readonly T[],
  fileOf: (item: T) => string,
  isWithheld: ((path: string) => boolean) | undefined,
): { readonly kept: readonly T[]; readonly note: readonly string[] } {
  if (isWithheld === undefined) return { kept: found, note: [] };
  const withheld = new Set([...new Set(found.map(fileOf))].filter(isWithheld));
  if (withheld.size === 0) return { kept: found, note: [] };
  const count = withheld.size === 1 ? "1 file" : `${withheld.size} files`;
  return {
    kept: found.filter((item) => !withheld.has(fileOf(item))),
    note: [`(left out by permission rules: ${count})`],
  };
}
