import type { AnyTool } from "../agent/tool.ts";
import { TeamError } from "../errors.ts";
import { deleteTeam, requireEnded } from "../operations/ending/delete-team.ts";
import { copyEvents } from "../operations/run/copy-events.ts";
import { type DeletedTeam, deletedTeamOf, recreateTeam } from "../operations/run/recreate-team.ts";
import { renameTeam } from "../operations/run/rename-team.ts";
import type { WorktreeEnd } from "../operations/worktrees/remove-worktree.ts";
import { ownSecrets, redactText } from "../os/redact.ts";
import { type TeamConfig, teamTitle } from "../schema/config.ts";
import { LEAD_NAME } from "../schema/names.ts";
import { readTeam, teamExists, updateTeam } from "../team/config/config.ts";
import type { TeamToolContext } from "./context.ts";

/** A tool that only leads have. */
export type LeadTool = (context: TeamToolContext & { readonly led: CurrentTeam }) => AnyTool;

/** The name and description that a lead gives its team. */
interface NewTeam {
  readonly name: string;
  readonly description?: string | undefined;
  /** The lead's own agent type. */
  readonly agentType?: string | undefined;
}

/** The result of a deletion. */
export interface Deletion {
  /** The names of the deleted team, as `teamTitle` writes them; undefined if there was none. */
  readonly title?: string;
  /** Whether the team's files were kept. */
  readonly kept: boolean;
  readonly worktrees: readonly WorktreeEnd[];
  /** Failures that did not prevent the deletion. */
  readonly problems?: readonly string[];
}

/**
 * The one team that a lead has at a time (protocol.md section 8). The run creates the first one; after a deletion, a new team
 * takes the place of the deleted one.
 */
export class CurrentTeam {
  readonly #own: TeamToolContext;
  /** The name that the lead gave the team; undefined before that. */
  #name: string | undefined;
  /** The kept data of the team that the lead deleted last. */
  #deleted: DeletedTeam | undefined;

  constructor(own: TeamToolContext) {
    this.#own = own;
  }

  /** @throws TeamError ALREADY_LEADING, TEAM_EXISTS, and TEAM_NOT_FOUND if another process has deleted the team */
  async create(input: NewTeam): Promise<TeamConfig> {
    const { ctx, worker, onTeamMoved } = this.#own;
    const before = { ...ctx.ref };
    if (this.#deleted !== undefined) {
      await recreateTeam(ctx, this.#deleted, input.name);
      this.#deleted = undefined;
      worker.joinTeam();
      await onTeamMoved?.(before);
    } else if (this.#name !== undefined && teamExists(ctx.ref)) {
      throw new TeamError("ALREADY_LEADING", `You already lead ${this.#name}; no team was created.`, {
        hint: "A lead has one team at a time; use your current team.",
      });
    } else if (this.#name === undefined && (await this.#rename(input.name))) {
      await onTeamMoved?.(before);
    }
    const config = await updateTeam(ctx.ref, (current) => withName(current, input));
    this.#name = input.name;
    return config;
  }

  /** Renames the team's directory, if that is possible. @returns whether it was renamed */
  async #rename(name: string): Promise<boolean> {
    const { ctx, worker } = this.#own;
    if (ctx.ref.moveTo === undefined) return false;
    // The worker may still look for the team under the old name, and must not end because of that.
    worker.leaveTeam();
    try {
      return await renameTeam(ctx.ref, name);
    } finally {
      worker.joinTeam();
    }
  }

  /**
   * Deletes the team. Succeeds if there is no team. If the run keeps the team, only checks that all teammates have ended.
   * @throws TeamError ACTIVE_MEMBERS, and what {@link deleteTeam} throws
   */
  async delete(): Promise<Deletion> {
    const { ctx, worker, keepsTeam, onTeamDelete } = this.#own;
    if (!teamExists(ctx.ref)) return { kept: false, worktrees: [] };
    const deleted = deletedTeamOf(ctx.ref);
    const title = teamTitle(readTeam(ctx.ref));
    if (keepsTeam) {
      await requireEnded(ctx);
      return { title, kept: true, worktrees: [] };
    }
    await onTeamDelete?.();
    worker.leaveTeam();
    try {
      const problems: string[] = [];
      const problem = (text: string): void => void problems.push(text);
      const beforeRemoval = (): void => copyEvents(ctx, problem);
      const worktrees = await deleteTeam(ctx, { problem, beforeRemoval });
      return { title, kept: false, worktrees, problems };
    } finally {
      if (teamExists(ctx.ref)) worker.joinTeam();
      else {
        this.#deleted = deleted;
        worker.teamDeleted();
      }
    }
  }
}

function withName(current: TeamConfig, { name, description, agentType }: NewTeam): TeamConfig {
  const { displayName: _before, ...rest } = current;
  return {
    ...rest,
    ...(name === current.name ? {} : { displayName: name }),
    ...(description === undefined ? {} : { description: redactText(description, ownSecrets()) }),
    members: current.members.map((member) =>
      member.name === LEAD_NAME && agentType !== undefined ? { ...member, agentType } : member,
    ),
  };
}
