import { TeamError } from "../../errors.ts";
import { entryOf } from "../../os/files/fs.ts";
import type { TeamMember } from "../../schema/config.ts";
import { worktreeOf } from "../../schema/member-metadata.ts";
import { LEAD_NAME, sameName, splitAddress } from "../../schema/names.ts";
import type { WorktreeRecord } from "../../schema/worktree.ts";
import { readTeam } from "../../team/config/config.ts";
import { findMember, lookUpMember } from "../../team/members/members.ts";
import type { TeamRef } from "../../team/ref.ts";

/** Where an agent works, or worked: a worktree can outlive its member. */
export interface AgentWork {
  readonly agent: string;
  /** Undefined for an agent that has left the team. */
  readonly member: TeamMember | undefined;
  /** The directory of its worktree, else the directory that it works in. */
  readonly directory: string;
  readonly worktree: WorktreeRecord | undefined;
}

/**
 * Returns the work of a member, or of the last former member with that name whose worktree still exists.
 * @throws TeamError AGENT_NOT_FOUND
 */
export function workOf(ref: TeamRef, address: string): AgentWork {
  const config = readTeam(ref);
  const member = lookUpMember(config, address);
  if (member !== undefined) return workOfMember(member);
  const { name } = splitAddress(address);
  const left = formerWork(ref).find(({ agent }) => sameName(agent, name));
  return left ?? workOfMember(findMember(config, address));
}

/** Returns the work of all members, and then that of former members whose worktree still exists. */
export function allWork(ref: TeamRef): readonly AgentWork[] {
  const { members } = readTeam(ref);
  return [...members.map(workOfMember), ...formerWork(ref)];
}

function workOfMember(member: TeamMember): AgentWork {
  const worktree = worktreeOf(member);
  return { agent: member.name, member, directory: worktree?.path ?? member.cwd, worktree };
}

/** Returns the work of former members, the newest first, without worktrees that a member has now. */
function formerWork(ref: TeamRef): readonly AgentWork[] {
  const { members, former = [] } = readTeam(ref);
  const seen = new Set(members.map((member) => worktreeOf(member)?.path));
  return former.toReversed().flatMap(({ name, worktree }) => {
    if (worktree === undefined || seen.has(worktree.path) || entryOf(worktree.path) === undefined) return [];
    seen.add(worktree.path);
    return [{ agent: name, member: undefined, directory: worktree.path, worktree }];
  });
}

/** @throws TeamError INVALID_INPUT for an agent without a worktree */
export function requireWorktree({ agent, directory, worktree }: AgentWork): WorktreeRecord {
  if (worktree !== undefined) return worktree;
  throw new TeamError(
    "INVALID_INPUT",
    `${agent} has no worktree; it works in ${directory}. Nothing was landed.`,
    {
      hint:
        agent === LEAD_NAME
          ? "Name a teammate that was spawned with --worktree."
          : "Its changes are already in that directory; commit them there.",
    },
  );
}
