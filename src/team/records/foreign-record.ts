import { foreignForm } from "../../schema/guards/foreign-record.ts";
import type { ForeignRecord } from "../../schema/status.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { readCached, type TeamRef } from "../ref.ts";
import { writeRecord } from "./write-records.ts";

/** Returns the process that was last proven to be a foreign member's. */
export function readForeign(ref: TeamRef, agent: string): ForeignRecord | undefined {
  const path = ref.paths.agent(agent).foreign;
  return readCached(ref, path, () => readRecordFile(path, foreignForm));
}

/** Records a process that is proven to be a foreign member's. @throws TeamError TEAM_NOT_FOUND */
export function writeForeign(ref: TeamRef, agent: string, record: ForeignRecord): void {
  writeRecord(ref, ref.paths.agent(agent).foreign, record);
}
