import { join } from "node:path";
import * as z from "zod/mini";
import { listDir, removeFile } from "../../os/files/fs.ts";
import { ownIdentity } from "../../os/process/identity.ts";
import { type Form, isTextList, lazily, optional, plainObject } from "../../schema/guards/guard.ts";
import { isIdentity } from "../../schema/guards/identity.ts";
import { type ProcessIdentity, processIdentity } from "../../schema/process-identity.ts";
import { readRecordFile } from "../../store/json-file.ts";
import { writeRecord } from "../records/write-records.ts";
import { judgeProcess, type TeamRef } from "../ref.ts";

/** The messages that one MCP server returned to its client without proof that they arrived. */
interface HandedOut {
  /** The process of the server; absent once the server has ended normally. */
  readonly by?: ProcessIdentity | undefined;
  /** Ids of messages that are marked as read. */
  readonly ids: string[];
}

/** The messages that servers left when they ended. */
interface LeftMessages {
  readonly ids: readonly string[];
  /** Names of the lists, for {@link removeHandedOut}. */
  readonly servers: readonly string[];
}

/**
 * Returns the messages of an agent's ended servers that may not have reached the model, because their client made no later call.
 * @param server the name of the caller's own list, which is left out
 */
export function leftMessages(ref: TeamRef, agent: string, server: string): LeftMessages {
  const directory = ref.paths.agent(agent).handedOut;
  const left = listDir(directory).flatMap((file) => {
    const name = LIST_FILE.exec(file)?.[1];
    if (name === undefined || name === server) return [];
    const record = readRecordFile(join(directory, file), handedOut);
    if (record === undefined) return [];
    const isOpen = record.by !== undefined && judgeProcess(ref, record.by) !== "dead";
    return isOpen ? [] : [{ name, ids: record.ids }];
  });
  return { ids: [...new Set(left.flatMap(({ ids }) => ids))], servers: left.map(({ name }) => name) };
}

/**
 * Replaces the list of one server, synced to disk.
 * @param hasEnded whether another server may return the messages now
 * @throws TeamError TEAM_NOT_FOUND
 */
export function writeHandedOut(
  ref: TeamRef,
  agent: string,
  server: string,
  ids: readonly string[],
  hasEnded = false,
): void {
  if (ids.length === 0) {
    removeHandedOut(ref, agent, [server]);
    return;
  }
  const record: HandedOut = { ...(hasEnded ? {} : { by: ownIdentity() }), ids: [...ids] };
  writeRecord(ref, pathOf(ref, agent, server), record, { sync: true });
}

export function removeHandedOut(ref: TeamRef, agent: string, servers: readonly string[]): void {
  for (const server of servers) removeFile(pathOf(ref, agent, server));
}

function pathOf(ref: TeamRef, agent: string, server: string): string {
  return join(ref.paths.agent(agent).handedOut, `${server}.json`);
}

/** The file of a list; a temporary one begins with a dot. */
const LIST_FILE = /^([\w-]+)\.json$/;

const schema = lazily(() => z.object({ by: z.optional(processIdentity), ids: z.array(z.string()) }));
const handedOut: Form<HandedOut> = {
  guard: plainObject<HandedOut>({ by: optional(isIdentity), ids: isTextList }),
  schema,
};
