import type { AnyTool } from "../agent/tool.ts";
import { TeamError } from "../errors.ts";
import { deleteTeam, requireEnded } from "../operations/ending/delete-team.ts";
import { type DeletedTeam, deletedTeamOf, recreateTeam } from "../operations/run/recreate-team.ts";
import type { WorktreeEnd } from "../operations/worktrees/remove-worktree.ts";
import { maskText, ownSecrets } from "../os/redact.ts";
import type { TeamConfig } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { isThere, updateTeam } from "../team/config/config.ts";
import type { TeamToolContext } from "./context.ts";

/** A tool that only a lead has. */
export type LeadTool = (context: TeamToolContext & { readonly led: CurrentTeam }) => AnyTool;

/** What a lead says of the team that it is to lead. */
interface NewTeam {
  readonly name: string;
  readonly description?: string | undefined;
  /** The lead's own. */
  readonly agentType?: string | undefined;
}

/** What a deletion came to. */
interface Deletion {
  /** Its files stay. */
  readonly kept: boolean;
  readonly worktrees: readonly WorktreeEnd[];
}

/**
 * The one team that a lead has at a time (protocol.md section 8): the first is the one that its run has made, and one that it
 * makes behind a deletion takes the deleted one's place.
 */
export class CurrentTeam {
  readonly #own: TeamToolContext;
  /** As the lead calls it; undefined while it has called none so. */
  #name: string | undefined;
  /** Of the one that it has deleted last. */
  #left: DeletedTeam | undefined;

  constructor(own: TeamToolContext) {
    this.#own = own;
  }

  /** @throws TeamError ALREADY_LEADING, TEAM_EXISTS, and TEAM_NOT_FOUND where somebody else has deleted it */
  async create(words: NewTeam): Promise<TeamConfig> {
    const { ctx, worker, onTeamRecreated } = this.#own;
    if (this.#left !== undefined) {
      await recreateTeam(ctx, this.#left);
      this.#left = undefined;
      worker.joinTeam();
      await onTeamRecreated?.();
    } else if (this.#name !== undefined && isThere(ctx.ref)) {
      throw new TeamError("ALREADY_LEADING", `You lead ${this.#name} already; no team was made.`, {
        hint: "One team at a time: use the one that you have.",
      });
    }
    const config = await updateTeam(ctx.ref, (current) => withName(current, words));
    this.#name = words.name;
    return config;
  }

  /**
   * Without a team it succeeds. One whose run keeps it is only asked whether all have ended.
   * @throws TeamError ACTIVE_MEMBERS, and what {@link deleteTeam} throws
   */
  async delete(): Promise<Deletion> {
    const { ctx, worker, keepsTeam } = this.#own;
    if (!isThere(ctx.ref)) return { kept: false, worktrees: [] };
    if (keepsTeam) {
      requireEnded(ctx);
      return { kept: true, worktrees: [] };
    }
    const left = deletedTeamOf(ctx.ref);
    worker.leaveTeam();
    try {
      return { kept: false, worktrees: await deleteTeam(ctx) };
    } finally {
      if (isThere(ctx.ref)) worker.joinTeam();
      else this.#left = left;
    }
  }
}

function withName(current: TeamConfig, { name, description, agentType }: NewTeam): TeamConfig {
  return {
    ...current,
    displayName: name,
    ...(description === undefined ? {} : { description: maskText(description, ownSecrets()) }),
    members: current.members.map((member) =>
      member.name === LEAD_NAME && agentType !== undefined ? { ...member, agentType } : member,
    ),
  };
}
