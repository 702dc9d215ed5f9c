import { join } from "node:path";
import type { Env } from "../../os/env.ts";
import { listDir, readText } from "../../os/files/fs.ts";
import { isSubmission } from "../gemini-texts.ts";
import { fieldsOf } from "../reported-values.ts";
import { qwenPlaces } from "./chat-record.ts";

/**
 * Whether Qwen has logged a text as entered since a time. If no turn began with that text, Qwen's shell mode has taken it, and the text
 * is lost.
 */
export function wasEntered(env: Env, session: string, text: string, since: number): boolean {
  return logsOf(env).some((path) =>
    entriesOf(path).some(({ sessionId, message, timestamp }) => {
      if (sessionId !== session || typeof message !== "string" || typeof timestamp !== "string") return false;
      return Date.parse(timestamp) >= since && isSubmission(message, text);
    }),
  );
}

function logsOf(env: Env): string[] {
  return qwenPlaces(env).flatMap((place) => {
    const projects = join(place, "tmp");
    return listDir(projects).map((project) => join(projects, project, "logs.json"));
  });
}

function entriesOf(path: string): readonly Readonly<Record<string, unknown>>[] {
  try {
    const entries: unknown = JSON.parse(readText(path) ?? "[]");
    return Array.isArray(entries) ? entries.map(fieldsOf) : [];
  } catch {
    // Qwen is writing the file: the next read finds its entries.
    return [];
  }
}
