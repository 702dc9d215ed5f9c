import type { AnyTool } from "../agent/tool.ts";
import { TeamError } from "../errors.ts";
import { deleteTeam, requireEnded } from "../operations/ending/delete-team.ts";
import { keptOf, type LeftTeam, makeAnew } from "../operations/run/recreate-team.ts";
import type { WorktreeEnd } from "../operations/worktrees/remove-worktree.ts";
import { ownSecrets, redactText } from "../os/redact.ts";
import type { TeamConfig } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { teamExists, updateTeam } from "../team/config/config.ts";
import type { TeamToolContext } from "./context.ts";

/** A tool that only a lead has. */
export type LeadTool = (context: TeamToolContext & { readonly led: LedTeam }) => AnyTool;

/** What a lead says of the team that it is to lead. */
interface TeamWords {
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
export class LedTeam {
  readonly #own: TeamToolContext;
  /** As the lead calls it; undefined while it has called none so. */
  #name: string | undefined;
  /** Of the one that it has deleted last. */
  #left: LeftTeam | undefined;

  constructor(own: TeamToolContext) {
    this.#own = own;
  }

  /** @throws TeamError ALREADY_LEADING, TEAM_EXISTS, and TEAM_NOT_FOUND where somebody else has deleted it */
  async create(words: TeamWords): Promise<TeamConfig> {
    const { ctx, worker, teamMade } = this.#own;
    if (this.#left !== undefined) {
      await makeAnew(ctx, this.#left);
      this.#left = undefined;
      worker.joinTeam();
      await teamMade?.();
    } else if (this.#name !== undefined && teamExists(ctx.ref)) {
      throw new TeamError("ALREADY_LEADING", `You lead ${this.#name} already; no team was made.`, {
        hint: "One team at a time: use the one that you have.",
      });
    }
    const config = await updateTeam(ctx.ref, (current) => named(current, words));
    this.#name = words.name;
    return config;
  }

  /**
   * Without a team it succeeds. One whose run keeps it is only asked whether all have ended.
   * @throws TeamError ACTIVE_MEMBERS, and what {@link deleteTeam} throws
   */
  async delete(): Promise<Deletion> {
    const { ctx, worker, keepsTeam } = this.#own;
    if (!teamExists(ctx.ref)) return { kept: false, worktrees: [] };
    if (keepsTeam) {
      requireEnded(ctx);
      return { kept: true, worktrees: [] };
    }
    const left = keptOf(ctx.ref);
    worker.leaveTeam();
    try {
      return { kept: false, worktrees: await deleteTeam(ctx) };
    } finally {
      if (teamExists(ctx.ref)) worker.joinTeam();
      else this.#left = left;
    }
  }
}

function named(current: TeamConfig, { name, description, agentType }: TeamWords): TeamConfig {
  return {
    ...current,
    displayName: name,
    ...(description === undefined ? {} : { description: redactText(description, ownSecrets()) }),
    members: current.members.map((member) =>
      member.name === LEAD_NAME && agentType !== undefined ? { ...member, agentType } : member,
    ),
  };
}
