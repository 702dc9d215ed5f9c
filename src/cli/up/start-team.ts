import { knownAdapters } from "../../adapter/adapters.ts";
import { defaultModelName, isScripted, resolveModelName, SCRIPTED } from "../../agent/model/model-names.ts";
import type { TeammateMode } from "../../backend/choose-backend.ts";
import { TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { createTeam } from "../../operations/create-team.ts";
import { recordScreens } from "../../operations/record-screens.ts";
import { isStopped } from "../../operations/resume/resume.ts";
import { isConversation } from "../../operations/run/take-over-lead.ts";
import { checkCli, checkCliVersion } from "../../operations/spawn/check-cli.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import { removeInterruptedStarts } from "../../operations/spawn/start-steps.ts";
import { reconcile } from "../../operations/supervision/reconcile.ts";
import { type AppliedPlan, applyPlan } from "../../operations/up/apply-plan.ts";
import {
  type DraftedMember,
  draftMembers,
  problemText,
  requireMachine,
} from "../../operations/up/check-members.ts";
import { type DeclaredTeam, type FieldProblem, teamFileError } from "../../operations/up/declared-team.ts";
import { differences, type ExistingTeam, planTeam, type TeamPlan } from "../../operations/up/plan-team.ts";
import { loadPlaybook, playbookFile } from "../../runtime/agent/models.ts";
import { operationContext } from "../../runtime/operation-context.ts";
import type { OpenTeam } from "../../runtime/select-team.ts";
import { taskHooks } from "../../runtime/task-hooks.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { readMetadata, withMetadata } from "../../schema/member-metadata.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import {
  bypassForbiddenBy,
  isPricedBy,
  type LoadedSettings,
  permittedMode,
  worktreeSettings,
} from "../../settings/settings.ts";
import { readTeam, teamExists } from "../../team/config/config.ts";
import { findTeam } from "../../team/config/find-team.ts";
import { isLed } from "../../team/members/led.ts";
import { movableRef, type TeamRef, teamsHome } from "../../team/ref.ts";
import { withProofs } from "../../team/tasks/task-proof.ts";
import { listTasks } from "../../team/tasks/tasks.ts";
import type { AnyCall } from "../../terminal/call.ts";

/** A checked difference between a file and its team. */
export interface CheckedPlan {
  readonly team: DeclaredTeam;
  readonly plan: TeamPlan;
  /** The directory name of the team. */
  readonly ref: TeamRef;
  /** Makes the changes. @throws TeamError the first failure, with what was done */
  apply(): Promise<AppliedPlan>;
}

interface CheckOptions {
  readonly teammateMode: TeammateMode | undefined;
  /** Records the screens of the started agents into this directory; `true` for the directory of the team's recordings. */
  readonly screens: string | true | undefined;
  /** Changes nothing at all, and does not finish an earlier command. */
  readonly dryRun: boolean;
  readonly signal: AbortSignal;
  readonly background: (work: Promise<unknown>) => void;
}

/**
 * Compares a declared team with the existing one, and checks everything that can be checked before a change.
 * @throws TeamError INVALID_INPUT with all mistakes of the file, PERMISSION_DENIED for a team of another program, TMUX_NOT_FOUND, …
 */
export async function checkTeam(
  call: AnyCall,
  team: DeclaredTeam,
  settings: LoadedSettings,
  options: CheckOptions,
): Promise<CheckedPlan> {
  const { io } = call;
  const home = teamsHome(io.env);
  const ref = movableRef(findTeam(home, team.name));
  const exists = teamExists(ref);
  const inTeam = (config: TeamConfig): OpenTeam => ({ home, ref, config, actor: LEAD_NAME });
  const config = exists ? ownTeam(ref) : futureTeam(team, settings);
  const context = async (now: TeamConfig): Promise<OperationContext> => ({
    ...(await operationContext(call, inTeam(now), settings)),
    cwd: team.directory,
  });
  const ctx = await context(config);
  if (exists && !options.dryRun) {
    await reconcile(ctx);
    await removeInterruptedStarts(ctx, team.members);
  }
  const spawn = spawnOptions(settings, ctx, options);
  const { drafted, problems } = await draftMembers(ctx, config, team, spawn);
  const wrong = [...problems, ...teamProblems(call, team, settings), ...playbookProblems(call, drafted)];
  if (wrong.length > 0) throw teamFileError(team.file, wrong);
  const existing = exists ? existingTeam(ctx) : undefined;
  const compared = planTeam(team, existing);
  const left = existing === undefined ? [] : differences(existing.config, drafted);
  const plan = { ...compared, left: [...compared.left, ...left] };
  const added = drafted.filter(({ declared }) => plan.members.includes(declared));
  await requireMachine(
    ctx,
    added.map(({ draft }) => draft),
    spawn,
  );
  const apply = async (): Promise<AppliedPlan> => {
    if (plan.isNew) await create(ctx, team, settings);
    if (options.screens !== undefined) await recordScreens(ref, options.screens);
    const now = await context(readTeam(ref));
    const known = knownAdapters(settings.teams.adapters);
    const costs = { isPriced: isPricedBy(settings), reportsOf: (cli: string) => known.get(cli)?.reports };
    const hooks = await taskHooks({ ...call, io: { ...io, cwd: team.directory } }, inTeam(readTeam(ref)));
    return applyPlan(now, plan, { spawn, costs, hooks, inputs: added.map(({ input }) => input) });
  };
  return { team, plan, ref, apply };
}

/** @throws TeamError PERMISSION_DENIED if another program has created the team */
function ownTeam(ref: TeamRef): TeamConfig {
  const config = readTeam(ref);
  if (config.schemaVersion !== undefined) return config;
  throw new TeamError("PERMISSION_DENIED", `${ref.team} was created by another program; nothing was done.`, {
    hint: "Give the team of your file another name: --team <name>",
  });
}

/** The config of a team that does not exist yet, as far as drafts of its members need it. */
function futureTeam(
  { name, permissionMode, budget, directory }: DeclaredTeam,
  settings: LoadedSettings,
): TeamConfig {
  const mode = permissionMode ?? settings.permissions.defaultMode;
  const lead = {
    ...{ name: LEAD_NAME, agentId: "", joinedAt: 0, tmuxPaneId: "", cwd: directory, subscriptions: [] },
    ...defined({ mode }),
  };
  const config = { name, createdAt: 0, leadAgentId: "", leadSessionId: "", members: [lead] };
  return withMetadata<TeamConfig>(config, { budget: Object.keys(budget).length > 0 ? budget : undefined });
}

async function create(
  { home, clock }: OperationContext,
  { name, description, directory, permissionMode, budget }: DeclaredTeam,
  settings: LoadedSettings,
): Promise<void> {
  const mode = permissionMode ?? settings.permissions.defaultMode;
  const limits = Object.keys(budget).length > 0 ? budget : undefined;
  await createTeam(home, clock, {
    ...{ name, cwd: directory },
    ...defined({ description, mode, budget: limits }),
  });
}

function existingTeam(ctx: OperationContext): ExistingTeam {
  const config = readTeam(ctx.ref);
  const unreadable: string[] = [];
  const lead = config.members.find(({ name }) => name === LEAD_NAME);
  return {
    config,
    tasks: withProofs(
      ctx.ref,
      listTasks(ctx.ref, (_, id) => unreadable.push(id)),
    ),
    unreadable,
    isStopped: (member) => isStopped(ctx, member),
    hasLead:
      config.leadProcess !== undefined ||
      isConversation(ctx.home.root, config.leadSessionId) ||
      (lead !== undefined && readMetadata(lead, "cli") !== undefined),
    leadLives: isLed(ctx.ref, config),
  };
}

function spawnOptions(
  settings: LoadedSettings,
  { env }: OperationContext,
  { teammateMode, signal, background }: CheckOptions,
): SpawnOptions {
  return {
    mode: teammateMode ?? settings.teammateMode,
    modelNames: settings.teams.models,
    sandbox: settings.teams.sandbox.mode,
    isPriced: isPricedBy(settings),
    checkCli: (cli, one) => checkCli(cli, one, settings.teams.adapters, env),
    checkVersion: (cli) => checkCliVersion(cli, settings.teams.adapters, env, signal),
    worktrees: { ...worktreeSettings(settings), signal },
    signal,
    bypassForbidden: bypassForbiddenBy(settings, env),
    background,
  };
}

/** Returns the mistakes in the fields of the team and of its lead. */
function teamProblems({ io }: AnyCall, team: DeclaredTeam, settings: LoadedSettings): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const check = (place: FieldProblem | ReturnType<typeof team.at>, run: () => unknown): void => {
    try {
      run();
    } catch (error) {
      if (!(error instanceof TeamError)) throw error;
      problems.push({ ...place, message: problemText(error) });
    }
  };
  const resolve = (model: string): unknown =>
    isScripted(model) || resolveModelName(model, settings.teams.models);
  check(team.at("permissionMode"), () => permittedMode(team.permissionMode, settings, io.env));
  if (team.model !== undefined) check(team.at("model"), () => resolve(team.model ?? ""));
  const { lead } = team;
  if (lead === undefined) return problems;
  if (lead.cli !== undefined) {
    check(lead.at("cli"), () =>
      checkCli(lead.cli ?? "", defined({ model: lead.model }), settings.teams.adapters, io.env),
    );
    return problems;
  }
  const model = lead.model ?? team.model ?? defaultModelName({ ...io.env, ...settings.env });
  check(lead.at("model"), () => resolve(model));
  if (model === SCRIPTED)
    problems.push({
      ...lead.at("model"),
      message:
        "the built-in playbook cannot lead a declared team; set ANTHROPIC_API_KEY, or name scripted:<file>",
    });
  return problems;
}

/** Reads the members' playbooks before the start: otherwise a pane would report a mistake in one. */
function playbookProblems({ io }: AnyCall, drafted: readonly DraftedMember[]): FieldProblem[] {
  return drafted.flatMap(({ declared, draft: { model } }) => {
    if (model === undefined || !isScripted(model)) return [];
    try {
      loadPlaybook(playbookFile(model, io.program, declared.cwd));
      return [];
    } catch (error) {
      if (!(error instanceof TeamError)) throw error;
      return [{ ...declared.at("model"), message: problemText(error) }];
    }
  });
}
