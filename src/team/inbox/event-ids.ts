import { fileAccessError, isSystemError } from "../../errors.ts";
import { isMissing, readFrom } from "../../os/files/fs.ts";
import { appendLines } from "../../os/files/lines.ts";
import { agentFileName } from "../../protocol/paths.ts";
import type { JournalLine } from "../../schema/inbox.ts";
import type { TeamRef } from "../ref.ts";

/**
 * Adds messages about events to the list of all that were ever delivered: 37 bytes each and the recipient's name. Without it, each
 * notification would have to search the whole journal.
 * @throws TeamError PERMISSION_DENIED; a system error if the team was deleted
 */
export function rememberEvents(ref: TeamRef, lines: readonly JournalLine[]): void {
  const entries = lines.map(({ id, to }) => entryOf(id, to));
  const { eventIds } = ref.paths;
  try {
    appendLines(eventIds, entries.join(""), false);
  } catch (error) {
    throw isSystemError(error) && !isMissing(error) ? fileAccessError(eventIds, "written", error) : error;
  }
}

/**
 * Returns which of these messages to an agent are in that list.
 * @throws TeamError PERMISSION_DENIED
 */
export function rememberedEvents(ref: TeamRef, agent: string, ids: readonly string[]): ReadonlySet<string> {
  const list = read(ref.paths.eventIds);
  return new Set(ids.filter((id) => list.includes(entryOf(id, agent))));
}

function read(path: string): Buffer {
  try {
    return readFrom(path, 0) ?? Buffer.alloc(0);
  } catch (error) {
    throw isSystemError(error) ? fileAccessError(path, "read", error) : error;
  }
}

function entryOf(id: string, agent: string): string {
  return `${id} ${agentFileName(agent)}\n`;
}
