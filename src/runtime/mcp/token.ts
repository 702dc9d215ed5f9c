import { randomBytes } from "node:crypto";
import { createWhole, makeDirBelow, replaceFile } from "../../os/files/atomic-write.ts";
import { makePrivate, readText } from "../../os/files/fs.ts";
import type { TeamRef } from "../../team/ref.ts";

const TOKEN = /^[0-9a-f]{64}$/;

export interface MemberToken {
  readonly token: string;
  readonly file: string;
}

/**
 * Returns the token of a member's HTTP server, and creates its file, 0600, at the first start. Later starts use the same token:
 * clients have it in their configuration.
 */
export function memberToken(ref: TeamRef, agent: string): MemberToken {
  const { run, mcpToken: file } = ref.paths.agent(agent);
  makeDirBelow(ref.paths.dir, run);
  const fresh = randomBytes(32).toString("hex");
  if (createWhole(file, `${fresh}\n`)) return { token: fresh, file };
  const known = readText(file)?.trim() ?? "";
  if (!TOKEN.test(known)) {
    replaceFile(file, `${fresh}\n`);
    return { token: fresh, file };
  }
  makePrivate(file);
  return { token: known, file };
}

/** Writes the token of a running server into its new team: the deletion of the previous team removed the file. */
export function keepToken(ref: TeamRef, agent: string, token: string): void {
  const { run, mcpToken: file } = ref.paths.agent(agent);
  makeDirBelow(ref.paths.dir, run);
  replaceFile(file, `${token}\n`);
}
