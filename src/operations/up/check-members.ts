import type { AgentType } from "../../agent/prompts/agent-types.ts";
import { type ErrorCode, TeamError } from "../../errors.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { readMetadata } from "../../schema/member-metadata.ts";
import type { NewMember } from "../../team/members/members.ts";
import type { OperationContext } from "../context.ts";
import { draftMember, type SpawnInput, spawnType } from "../spawn/draft-member.ts";
import { requirePrices, requireSandboxes, requireScreens } from "../spawn/requirements.ts";
import type { SpawnOptions } from "../spawn/spawn.ts";
import type { DeclaredMember, DeclaredTeam, FieldProblem } from "./declared-team.ts";

/** A declared member with its draft and its spawn input. */
export interface DraftedMember {
  readonly declared: DeclaredMember;
  readonly input: SpawnInput;
  readonly draft: NewMember;
}

/**
 * Drafts declared members as a spawn would, so that all mistakes are known before anything is started.
 * @param config the team's, or that of the team that would be created
 * @param model for members that name none, and whose type names none
 */
export async function draftMembers(
  ctx: OperationContext,
  config: TeamConfig,
  { members, model }: Pick<DeclaredTeam, "members" | "model">,
  options: SpawnOptions,
): Promise<{ readonly drafted: readonly DraftedMember[]; readonly problems: readonly FieldProblem[] }> {
  const drafted: DraftedMember[] = [];
  const problems: FieldProblem[] = [];
  for (const declared of members) {
    try {
      const types = await ctx.agentTypes?.(declared.cwd);
      const input = spawnInput(declared, model, spawnType(declared.agentType, types));
      const draft = draftMember(ctx, config, input, { ...options, types });
      requirePrices(config, [draft], options.isPriced);
      drafted.push({ declared, input, draft });
    } catch (error) {
      if (!(error instanceof TeamError)) throw error;
      // The model of the team is reported once, as its own field.
      const isTeams = model !== undefined && declared.model === undefined && error.details?.model === model;
      if (!isTeams) problems.push({ ...declared.at(fieldOf(error, declared)), message: problemText(error) });
    }
  }
  return { drafted, problems };
}

function spawnInput(
  { at: _at, worktree, ...member }: DeclaredMember,
  teamModel: string | undefined,
  type: AgentType,
): SpawnInput {
  const isFree = member.model === undefined && member.cli === undefined;
  const model = isFree && type.model === undefined && type.cli === undefined ? teamModel : member.model;
  const branch = typeof worktree === "string" ? { branch: worktree } : {};
  const hasWorktree = worktree !== undefined && worktree !== false;
  return {
    ...member,
    ...defined({ model, worktree: hasWorktree ? { ...branch, withChanges: false } : undefined }),
  };
}

/**
 * Checks that this machine has everything that the members of a batch need.
 * @throws TeamError TMUX_NOT_FOUND, SPAWN_FAILED, INVALID_INPUT; nothing was started
 */
export async function requireMachine(
  ctx: OperationContext,
  drafts: readonly NewMember[],
  options: SpawnOptions,
): Promise<void> {
  if (drafts.length === 0) return;
  await requireSandboxes(drafts, options.sandbox, ctx.env);
  const { backend } = await ctx.backends.choose(options.mode ?? "auto", options.command ?? "single");
  requireScreens(drafts, backend.type);
  const clis = new Set(drafts.flatMap((draft) => readMetadata(draft, "cli") ?? []));
  for (const cli of clis) await options.checkVersion?.(cli);
}

/** Returns the field that an error of a draft names, or is probably about; undefined for the member as a whole. */
function fieldOf({ code, details }: TeamError, member: DeclaredMember): string | undefined {
  const fields: Partial<Record<ErrorCode, string>> = {
    INVALID_NAME: "name",
    INVALID_TYPE: "agentType",
    INVALID_MODEL: member.budget.maxCostUsd === undefined ? "model" : "maxCost",
    CLI_NOT_FOUND: "cli",
  };
  if (typeof details?.field === "string") return details.field;
  return fields[code] ?? (member.cli === undefined ? undefined : "cli");
}

/** Returns the text of an error without what was not done: the error of the file says that for all. */
export function problemText({ message, hint, details }: TeamError): string {
  const text = typeof details?.problem === "string" ? details.problem : message.replace(/\.$/, "");
  return hint === undefined ? text : `${text} (${hint.split("\n")[0]?.replace(/\.$/, "")})`;
}
