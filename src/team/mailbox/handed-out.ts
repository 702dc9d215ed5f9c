import * as z from "zod/mini";
import { removeFile } from "../../os/files/fs.ts";
import { type Form, lazily } from "../../schema/guards/guard.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { writeRecord } from "../records/write-records.ts";
import type { TeamRef } from "../ref.ts";

const idList = lazily(() => z.array(z.string()));

const handedOutIds: Form<string[]> = {
  guard: (value): value is string[] => Array.isArray(value) && value.every((id) => typeof id === "string"),
  schema: idList,
};

/**
 * Returns the ids of messages that are marked as read, but may not have reached the model: the process that returned them ended
 * before the next call of its client.
 */
export function readHandedOut(ref: TeamRef, agent: string): readonly string[] {
  return readRecordFile(ref.paths.agent(agent).handedOut, handedOutIds) ?? [];
}

/** Replaces that list, synced to disk. Written by the agent's newest MCP server. @throws TeamError TEAM_NOT_FOUND */
export function writeHandedOut(ref: TeamRef, agent: string, ids: readonly string[]): void {
  const path = ref.paths.agent(agent).handedOut;
  if (ids.length === 0) removeFile(path);
  else writeRecord(ref, path, ids, { sync: true });
}
