import { join } from "node:path";
import { entryOf, listDir } from "../os/fs.ts";
import type { TeamRef } from "./ref.ts";

/**
 * Whether a team whose config cannot be read is ours: our version stands in its text where we write it, or an agent of ours ran in
 * it. To be asked by every command, so the text is not parsed.
 */
export function wasOurs(ref: TeamRef, text: string): boolean {
  return /^ {2}"schemaVersion": "\d/m.test(text) || hasRunOurs(ref);
}

/** Only agents of ours write a status; a journal is no proof, since a message to a foreign team leaves one there too. */
export function hasRunOurs({ paths }: TeamRef): boolean {
  const run = join(paths.dir, "run");
  return listDir(run).some((agent) => entryOf(join(run, agent, "status.json")) !== undefined);
}
