import { hookForm, lastWordsForm } from "../../schema/guards/hook-record.ts";
import type { HookRecord, LastWordsRecord } from "../../schema/status.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { readCached, type TeamRef } from "../ref.ts";
import { writeRecord } from "./write-records.ts";

/** Returns the last report of a hook of a member's CLI. */
export function readHook(ref: TeamRef, agent: string): HookRecord | undefined {
  const path = ref.paths.agent(agent).hook;
  return readCached(ref, path, () => readRecordFile(path, hookForm));
}

/** Records the report of a hook. @throws TeamError TEAM_NOT_FOUND */
export function writeHook(ref: TeamRef, agent: string, record: HookRecord): void {
  writeRecord(ref, ref.paths.agent(agent).hook, record);
}

/** Maximum number of turns whose last words are kept. */
const MAX_TURNS = 20;

/** Returns the last words of a member's newest turns, oldest first. */
export function readLastWords(ref: TeamRef, agent: string): LastWordsRecord["turns"] {
  const path = ref.paths.agent(agent).lastWords;
  return readCached(ref, path, () => readRecordFile(path, lastWordsForm))?.turns ?? [];
}

/** Records the last words of a turn. @throws TeamError TEAM_NOT_FOUND */
export function addLastWords(ref: TeamRef, agent: string, words: LastWordsRecord["turns"][number]): void {
  const turns = [...readLastWords(ref, agent), words].slice(-MAX_TURNS);
  writeRecord(ref, ref.paths.agent(agent).lastWords, { turns });
}
