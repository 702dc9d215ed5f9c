import { TeamError } from "../../errors.ts";
import { systemClock } from "../../os/clock.ts";
import { formatJson, replaceFile } from "../../os/files/atomic-write.ts";
import { livenessOf } from "../../os/process/identity.ts";
import { COLORS, type TeamConfig, type TeamMember, teamMember } from "../../schema/config.ts";
import { didYouMean } from "../../schema/did-you-mean.ts";
import type { EventSubject } from "../../schema/event.ts";
import { type MetadataChange, readMetadata, withMetadata, worktreeOf } from "../../schema/member-metadata.ts";
import { agentId, freeName, newAgentName, sameName, splitAddress } from "../../schema/names.ts";
import type { Held } from "../../store/lock.ts";
import { recordEvent } from "../../telemetry/event-log.ts";
import { operand } from "../../text/shell-quote.ts";
import { readConfigFile, readTeam, updateTeam } from "../config/config.ts";
import { isCalled } from "../config/find-team.ts";
import { keepLastConfig } from "../config/last-config.ts";
import { quarantinePlan } from "../config/plan-files.ts";
import { updateTeamFile } from "../config/team-lock.ts";
import { dropInbox, resetInbox } from "../inbox/empty-inbox.ts";
import { clearRun, readExit, readStatus } from "../records/read-records.ts";
import type { TeamRef } from "../ref.ts";

/** Maximum number of ended members to remember: enough for a long-lived team, and the file stays small. */
const MAX_FORMER = 500;

/** A member that is about to join. It receives its id, its join time and, unless it has one, its colour. */
export type NewMember = Pick<TeamMember, "name" | "cwd"> &
  Partial<
    Pick<
      TeamMember,
      | "agentType"
      | "model"
      | "color"
      | "prompt"
      | "planModeRequired"
      | "tmuxPaneId"
      | "backendType"
      | "mode"
      | "worktreePath"
      | "allowedTools"
      | "disallowedTools"
      | "metadata"
    >
  >;

/**
 * Adds members in one change: all of them or none. A reused name starts with an empty inbox.
 * @param options.unique takes the next free name of name, name-2, … (`now` in milliseconds)
 * @throws TeamError DUPLICATE_NAME, INVALID_NAME, TEAM_NOT_FOUND
 */
export async function addMembers(
  ref: TeamRef,
  inputs: readonly NewMember[],
  options: { readonly unique?: boolean; readonly now?: number } = {},
): Promise<TeamMember[]> {
  const { unique = false, now = systemClock.now() } = options;
  for (const { name } of inputs) newAgentName(name);
  let parentSessionId: string | undefined;
  const repaired = new Set<string>();
  const whileLocked = async (held: Held): Promise<TeamMember[]> => {
    const config = readConfigFile(ref);
    parentSessionId = config.leadSessionId;
    const added: TeamMember[] = [];
    for (const input of inputs) {
      const taken = [...config.members, ...added].map(({ name }) => name);
      const name = unique ? freeName(input.name, taken) : input.name;
      if (taken.some((other) => sameName(other, name))) throw duplicate(name);
      added.push(newMember(ref, { ...input, name }, joined(config) + added.length, now));
    }
    // Before they are members: no message to the new holder of a name can exist yet.
    for (const { name } of added) {
      for (const spelling of otherSpellings(config, name))
        if (await dropInbox(ref, spelling)) repaired.add(spelling);
      clearRun(ref, name);
      if (await resetInbox(ref, name)) repaired.add(name);
      quarantinePlan(ref, name);
    }
    const joinedCount = joined(config) + added.length;
    const next = { ...config, members: [...config.members, ...added], joinedCount };
    replaceFile(ref.paths.config, formatJson(next), { beforeRename: () => held.assertOwned() });
    keepLastConfig(ref, next);
    return added;
  };
  const members = await updateTeamFile(ref, ref.paths.config, { whileLocked });
  for (const { agentId, agentType, backendType: backend } of members)
    recordEvent(ref, { type: "member", what: "joined", agentId, agentType, parentSessionId, backend });
  for (const name of repaired) recordRepair(ref, name, currentEventSubject(ref, name));
  return members;
}

/**
 * Returns other spellings of a name by its former holders. Their inboxes are other files, except on a file system that
 * ignores case.
 */
function otherSpellings({ former = [] }: TeamConfig, name: string): Set<string> {
  const names = former.map((one) => one.name);
  return new Set(names.filter((other) => other !== name && sameName(other, name)));
}

function newMember(ref: TeamRef, input: NewMember, joinedBefore: number, now: number): TeamMember {
  const name = newAgentName(input.name);
  // Parsed, so its fields already have the order of every later rewrite.
  return teamMember.parse({
    ...input,
    name,
    agentId: agentId(name, ref.team),
    color: input.color ?? colorOf(joinedBefore),
    joinedAt: now,
  });
}

/** Returns the colour for a join position; the colours repeat. */
function colorOf(joinedBefore: number): string {
  return COLORS[joinedBefore % COLORS.length] ?? COLORS[0];
}

/** Returns how many members have joined. Another program's team keeps no count, so its members are counted. */
function joined(config: TeamConfig): number {
  return config.joinedCount ?? Math.max(0, config.members.length - 1);
}

/**
 * Returns the member that `name` or `name@team` refers to.
 * @throws TeamError AGENT_NOT_FOUND with the nearest names
 */
export function findMember(config: TeamConfig, address: string): TeamMember {
  const member = lookUpMember(config, address);
  if (member !== undefined) return member;
  const names = config.members.map(({ name }) => name);
  throw new TeamError("AGENT_NOT_FOUND", `There is no member ${JSON.stringify(address)} in ${config.name}.`, {
    hint: didYouMean(splitAddress(address).name, names, `Its members: ${names.join(", ")}.`),
  });
}

/** Returns the member like {@link findMember}, or undefined. */
export function lookUpMember(config: TeamConfig, address: string): TeamMember | undefined {
  const { name, team } = splitAddress(address);
  if (team !== undefined && !isCalled(config, team)) return undefined;
  return config.members.find((member) => sameName(member.name, name));
}

/**
 * Changes some fields of a member. A field that is undefined stays unchanged.
 * @throws TeamError AGENT_NOT_FOUND if it is not a member (any more)
 */
export async function patchMember(
  ref: TeamRef,
  name: string,
  patch: { readonly [K in keyof TeamMember]?: TeamMember[K] | undefined },
): Promise<TeamMember> {
  const config = await updateTeam(ref, (current) => {
    const member = findMember(current, name);
    const fields = Object.entries(patch).filter(
      ([key, value]) => value !== undefined && JSON.stringify(member[key]) !== JSON.stringify(value),
    );
    if (fields.length === 0) return undefined;
    return withReplaced(current, member, { ...member, ...Object.fromEntries(fields) });
  });
  return findMember(config, name);
}

/** Changes some of our keys of a member's metadata. @throws TeamError AGENT_NOT_FOUND if it is not a member (any more) */
export async function changeMetadata(ref: TeamRef, name: string, change: MetadataChange): Promise<void> {
  await updateTeam(ref, (config) => {
    const member = findMember(config, name);
    return withReplaced(config, member, withMetadata(member, change));
  });
}

/**
 * Returns the config with a member moved to `former`: it has ended for good.
 * @param how one or two words (`shutdown`, `killed`)
 * @param now milliseconds since the epoch
 * @returns undefined if it is not a member (any more)
 */
export function moveToFormer(
  config: TeamConfig,
  name: string,
  how: string,
  now: number,
): TeamConfig | undefined {
  const member = lookUpMember(config, name);
  if (member === undefined) return undefined;
  const { discard: _, ...worktree } = worktreeOf(member) ?? {};
  const sessionId = readMetadata(member, "session");
  const entry = {
    name: member.name,
    agentId: member.agentId,
    endedAt: now,
    how,
    ...(sessionId !== undefined && { sessionId }),
    ...("path" in worktree && { worktree }),
  };
  const former = [...(config.former ?? []), entry].slice(-MAX_FORMER);
  return { ...without(config, member), former };
}

/**
 * Removes a member whose start failed, as if it had never joined. Idempotent.
 * @param joinedAt when it joined: nothing is removed if another member has its name by now
 * @returns false if another member has its name
 */
export async function removeMember(ref: TeamRef, name: string, joinedAt?: number): Promise<boolean> {
  let subject: EventSubject = { agentId: `${name}@${ref.team}` };
  let isOther = false;
  await updateTeam(ref, (config) => {
    const member = lookUpMember(config, name);
    isOther = joinedAt !== undefined && member !== undefined && member.joinedAt !== joinedAt;
    if (member === undefined || isOther) return undefined;
    subject = { ...subject, agentType: member.agentType, parentSessionId: config.leadSessionId };
    const count = joined(config);
    const wasLast = count > 0 && member.color === colorOf(count - 1);
    return { ...without(config, member), joinedCount: wasLast ? count - 1 : count };
  });
  if (isOther) return false;
  clearRun(ref, name);
  if (await dropInbox(ref, name)) recordRepair(ref, name, subject);
  recordEvent(ref, { type: "member", what: "start_failed", ...subject });
  return true;
}

function recordRepair(ref: TeamRef, owner: string, subject: EventSubject): void {
  recordEvent(ref, { ...subject, type: "inbox", what: "repaired", owner });
}

function without(config: TeamConfig, member: TeamMember): TeamConfig {
  const members = config.members.filter((other) => other !== member);
  return withoutHidden({ ...config, members }, new Set([member.tmuxPaneId]));
}

/** Removes panes that are gone from the list of hidden panes. */
export function withoutHidden(config: TeamConfig, panes: ReadonlySet<string>): TeamConfig {
  if (config.hiddenPaneIds === undefined) return config;
  return { ...config, hiddenPaneIds: config.hiddenPaneIds.filter((id) => !panes.has(id)) };
}

/** Returns the config with the next version of one member. */
export function withReplaced(config: TeamConfig, member: TeamMember, next: TeamMember): TeamConfig {
  return { ...config, members: config.members.map((other) => (other === member ? next : other)) };
}

function duplicate(name: string): TeamError {
  return new TeamError(
    "DUPLICATE_NAME",
    `A member ${JSON.stringify(name)} already exists; no member was added.`,
    {
      hint: "Choose another name, or add --unique to take the next free one.",
    },
  );
}

/** Returns the subject of an event, from the config; without a name, the team itself. */
export function eventSubject(ref: TeamRef, config: TeamConfig, name: string | undefined): EventSubject {
  const parentSessionId = config.leadSessionId || undefined;
  if (name === undefined) return { parentSessionId };
  return {
    agentId: `${name}@${ref.team}`,
    agentType: lookUpMember(config, name)?.agentType,
    parentSessionId,
  };
}

/** Returns the subject of an event, reading the config. If that fails, uses the facts known without it: other code reports the failure. */
export function currentEventSubject(ref: TeamRef, name: string | undefined): EventSubject {
  try {
    return eventSubject(ref, readTeam(ref), name);
  } catch (error) {
    if (!(error instanceof TeamError)) throw error;
    return name === undefined ? {} : { agentId: `${name}@${ref.team}` };
  }
}

/**
 * Returns the recipient of a message.
 * @throws TeamError RECIPIENT_NOT_FOUND with the nearest names; RECIPIENT_INACTIVE if it has ended for good
 */
export function findRecipient(config: TeamConfig, address: string): TeamMember {
  const member = lookUpMember(config, address);
  if (member !== undefined) return member;
  const { name, team } = splitAddress(address);
  const ended = config.former?.findLast((former) => sameName(former.name, name));
  if (ended !== undefined && (team === undefined || isCalled(config, team))) {
    throw new TeamError("RECIPIENT_INACTIVE", `${ended.name} has ended (${ended.how}); nothing was sent.`, {
      hint: `Spawn a new teammate: teams spawn ${operand(ended.name)}`,
    });
  }
  const names = config.members.map((other) => other.name);
  throw new TeamError(
    "RECIPIENT_NOT_FOUND",
    `There is no member ${JSON.stringify(address)} in ${config.name}; nothing was sent.`,
    { hint: didYouMean(name, names, `Its members: ${names.join(", ")}.`) },
  );
}

/** True if a member is known to be down. A member without our records never is. */
export function isDown(ref: TeamRef, agent: string, status = readStatus(ref, agent)): boolean {
  if (status === undefined) return false;
  if (livenessOf(status.process) === "dead") return true;
  return status.instance !== undefined && readExit(ref, agent)?.instance === status.instance;
}
