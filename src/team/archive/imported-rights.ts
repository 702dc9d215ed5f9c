import { isAbsolute, relative, resolve } from "node:path";
import { realPathOf } from "../../os/files/symlinks.ts";
import { type ProtocolType, parseProtocol } from "../../protocol/messages.ts";
import type { TeamMember } from "../../schema/config.ts";
import { isNestedTooDeeply } from "../../schema/guards/nesting.ts";
import { type MetadataChange, readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { readEntry, withTime } from "../inbox/inbox-format.ts";

/** The rights of a member that an import left out: an archive may come from another person. */
export interface DroppedRights {
  readonly name: string;
  /** In words: `mode bypassPermissions`, `allowed tools Bash`. */
  readonly rights: readonly string[];
}

/** Modes that allow nothing more than the default one. */
const PLAIN_MODES: ReadonlySet<string | undefined> = new Set([
  undefined,
  "default",
  "plan",
  "dontAsk",
  "delegate",
]);

/** A model that is a playbook: its file decides all tool calls, and errors quote the file. */
const PLAYBOOK = /^scripted:(.*)$/s;

/**
 * Returns a member without the parts that widen what it may do: allowed tools, a mode above the default one, a working
 * directory elsewhere, commands outside the sandbox, and changes to its system prompt. Also leaves out a file or a conversation of
 * this machine that the archive names: a playbook outside the directory, and the id that its CLI gave to its conversation.
 * @param here the directory of the import, in which members work that worked elsewhere
 */
export function withPlainRights(
  member: TeamMember,
  here: string,
): { readonly member: TeamMember; readonly rights: readonly string[] } {
  const rights: string[] = [];
  const { allowedTools, ...rest } = member;
  if (allowedTools !== undefined && allowedTools.length > 0)
    rights.push(`allowed tools ${allowedTools.join(", ")}`);
  const plain: TeamMember = { ...rest };
  const modes = [member.mode, readMetadata(member, "grantedMode"), readMetadata(member, "modeBefore")];
  const above = new Set(modes.filter((mode) => !PLAIN_MODES.has(mode)));
  if (above.size > 0) rights.push(`mode ${[...above].join(", ")}`);
  if (!PLAIN_MODES.has(member.mode)) plain.mode = "default";
  if (member.cwd !== "" && !isBelow(member.cwd, here)) {
    rights.push(`directory ${member.cwd}`);
    plain.cwd = here;
  }
  const [, playbook] = PLAYBOOK.exec(member.model ?? "") ?? [];
  if (playbook !== undefined && !isBelow(resolve(plain.cwd || here, playbook), here)) {
    rights.push(`model ${member.model}`);
    plain.model = undefined;
  }
  const conversation = readMetadata(member, "conversation");
  if (conversation !== undefined) rights.push(`conversation ${conversation} of its CLI`);
  const types = readMetadata(member, "typesDirectory");
  const isForeign = types !== undefined && !isBelow(types, here);
  if (isForeign) rights.push(`agent types of ${types}`);
  if (readMetadata(member, "promptOverrides") !== undefined) rights.push("changes to its system prompt");
  const isUnsandboxed = readMetadata(member, "sandbox") === "off";
  if (isUnsandboxed) rights.push("sandbox off");
  const change: MetadataChange = {
    promptOverrides: undefined,
    conversation: undefined,
    ...(isUnsandboxed && { sandbox: undefined }),
    ...(isForeign && { typesDirectory: undefined }),
    ...(!PLAIN_MODES.has(readMetadata(member, "grantedMode")) && { grantedMode: undefined }),
    ...(!PLAIN_MODES.has(readMetadata(member, "modeBefore")) && { modeBefore: undefined }),
  };
  return { member: withMetadata(plain, change), rights };
}

function isBelow(path: string, directory: string): boolean {
  if (!isAbsolute(path)) return false;
  const way = relative(realPathOf(directory), realPathOf(path));
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}

/** Messages that give an agent rights. */
const GRANTS: ReadonlySet<ProtocolType> = new Set<ProtocolType>([
  "mode_set_request",
  "team_permission_update",
  "permission_response",
  "sandbox_permission_response",
  "plan_approval_response",
]);

function isGrant(text: string): boolean {
  const type = parseProtocol(text)?.type;
  return type !== undefined && GRANTS.has(type);
}

/** Returns inbox entries in which each message that gives rights counts as read, and the number of such messages. */
export function withoutGrants(entries: readonly unknown[]): {
  readonly entries: readonly unknown[];
  readonly count: number;
} {
  let count = 0;
  const kept = entries.map((entry) => {
    // The reader gives a message without a time that of its file.
    const message = readEntry(withTime(entry, () => ""));
    if (message === undefined || message.read || !isGrant(message.text)) return entry;
    count += 1;
    return { ...(entry as object), read: true };
  });
  return { entries: kept, count };
}

/** Returns a line of the journal from which no message that gives rights can be restored. */
export function journalLineWithoutGrant(line: string): string {
  // Most lines contain no message. An escape sequence may hide the key.
  if (!line.includes('"message"') && !line.includes("\\u")) return line;
  try {
    const value: unknown = JSON.parse(line);
    if (typeof value !== "object" || value === null || !("message" in value)) return line;
    const message = readEntry(value.message);
    if (message === undefined || !isGrant(message.text)) return line;
    // A value with too many levels cannot be written.
    return isNestedTooDeeply(value) ? "" : JSON.stringify({ ...value, state: "done" });
  } catch {
    // Every reader skips a line that is not JSON.
    return line;
  }
}
