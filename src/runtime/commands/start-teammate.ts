import { defaultModelName, isScripted, SCRIPTED } from "../../agent/model/model-names.ts";
import { isInside } from "../../agent/permissions/protected-paths.ts";
import type { TeammateMode } from "../../backend/choose-backend.ts";
import { TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { inheritedMode } from "../../operations/permission-mode.ts";
import { checkCli, checkCliVersion } from "../../operations/spawn/check-cli.ts";
import { type SpawnInput, workingDirectory } from "../../operations/spawn/draft-member.ts";
import { mayModelStart, requireProjectPlaybook } from "../../operations/spawn/model-requests.ts";
import { type SpawnedTeammate, type SpawnOptions, spawnTeammates } from "../../operations/spawn/spawn.ts";
import type { Env } from "../../os/env.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import {
  additionalDirectories,
  bypassForbiddenBy,
  isPricedBy,
  type LoadedSettings,
  worktreeSettings,
} from "../../settings/settings.ts";
import type { Settings } from "../../settings/settings-schema.ts";
import { trustDecision } from "../../settings/trust.ts";
import { castsDirectory } from "../../team/records/cast-directories.ts";
import { DEBUG_VARIABLE } from "../../telemetry/debug-flag.ts";
import { line } from "../../terminal/output.ts";
import { agentTypesIn } from "../agent/load-agent-types.ts";
import { loadPlaybook, playbookFile } from "../agent/models.ts";
import type { Caller } from "../caller.ts";
import { operationContext } from "../operation-context.ts";
import { deciderOf, type OpenTeam } from "../select-team.ts";

interface StartOptions {
  readonly input: Omit<SpawnInput, "maxMode" | "recording">;
  /** Of the caller's directory. */
  readonly settings: LoadedSettings;
  /** Where the teammate runs; by default the settings decide. */
  readonly mode?: TeammateMode | undefined;
  readonly placement?: SpawnOptions["placement"];
  /** The absolute directory for the recordings of its screen; `true` for the directory of the team's recordings. */
  readonly recording?: string | true | undefined;
  /** Whether the teammate writes a debug log of its decisions. */
  readonly debug?: boolean;
  /** Receives work that continues after the start; a caller that ends its process waits for it. */
  readonly background?: (work: Promise<unknown>) => void;
}

/**
 * Starts a teammate as `teams spawn` does: with the settings, agent types, prices and trust of the caller's directory, and within
 * the limits of a caller that is an agent's model.
 * @throws TeamError as `spawnTeammates`; PERMISSION_DENIED if a model may not start it; nothing was started
 */
export async function startTeammate(
  call: Caller,
  open: OpenTeam,
  { input: given, settings, mode, placement, recording, debug = false, background }: StartOptions,
): Promise<SpawnedTeammate> {
  const { io, out } = call;
  const plain = await operationContext(call, open, settings);
  const ctx = debug ? { ...plain, env: { ...plain.env, [DEBUG_VARIABLE]: "1" } } : plain;
  const directory = workingDirectory(ctx, given);
  const maxMode = deciderOf(io.env) === "model" ? inheritedMode(open.config) : undefined;
  // A model chooses the directory, and its contents count as the teammate's project.
  if (maxMode !== undefined) requireInsideLeadDirectories(directory, open.config, settings, ctx);
  if (given.model !== undefined && isScripted(given.model)) {
    const lead = open.config.members.find(({ name }) => name === LEAD_NAME);
    if (maxMode !== undefined) requireProjectPlaybook(given.model, lead?.model, directory);
    // Read here too, from the teammate's directory, so that a mistake in it is reported here and not in a pane.
    loadPlaybook(playbookFile(given.model, io.program, directory));
  }
  const casts = recording === true ? castsDirectory(open.home.root, open.config.leadSessionId) : recording;
  const model = modelIn(given, io.program, directory);
  const input: SpawnInput = { ...given, ...defined({ model, maxMode, recording: casts }) };
  const { problems } = await agentTypesIn(open.home.root, directory);
  for (const problem of problems) out.note(line`Ignored agent type: ${problem}`);
  // Listens before the first file is written, so that an interrupted start leaves nothing.
  const signal = io.interruption();
  const [spawned] = await spawnTeammates(ctx, [input], {
    mode: mode ?? settings.teammateMode,
    modelNames: settings.teams.models,
    isTrusted: (place) => trustDecision(open.home.root, place) === true,
    sandbox: settings.teams.sandbox.mode,
    isPriced: isPricedBy(settings),
    checkCli: (cli, one) => checkCli(cli, one, settings.teams.adapters, ctx.env),
    checkVersion: (cli) => checkCliVersion(cli, settings.teams.adapters, ctx.env, signal),
    mayStartCli: (cli, one) => mayModelStart(cli, one, settings.permissions),
    ...defined({ placement, background }),
    worktrees: { ...worktreeSettings(settings), signal },
    signal,
    bypassForbidden: bypassForbiddenBy(settings, ctx.env),
  });
  if (spawned === undefined) throw new Error("A spawn without a failure has no result.");
  if (recording !== undefined && spawned.paneId === null)
    out.note(line`${spawned.name} is not recorded: it has no tmux pane.`);
  if (spawned.model === SCRIPTED && given.cli === undefined)
    out.note(unscriptedNote(spawned.name, playbookFile(SCRIPTED, io.program, directory), ctx.env));
  return spawned;
}

/** Explains what a teammate without a model does: it plays the part of its name in the built-in playbook, if that has one. */
function unscriptedNote(name: string, builtIn: string, env: Env): string {
  const { agents } = loadPlaybook(builtIn);
  const plays = agents[name] ?? agents["*"];
  const hasModel = defaultModelName(env) !== SCRIPTED;
  if (plays !== undefined)
    return hasModel
      ? line`${name} plays the built-in audit, without a model.`
      : line`No model is set up: ${name} plays the built-in audit.`;
  return hasModel
    ? line`The built-in playbook has no part for ${name}: it will not answer. Name another model, or use --model scripted:<file>.`
    : line`No model is set up, and no playbook has a part for ${name}: it will not answer. Set ANTHROPIC_API_KEY, or use --model scripted:<file>.`;
}

/** Returns the model. For a new worktree, which may lack a playbook of the directory, the playbook's path becomes absolute. */
function modelIn(
  { model, worktree }: Pick<SpawnInput, "model" | "worktree">,
  program: readonly string[],
  directory: string,
): string | undefined {
  const isFile = model !== undefined && isScripted(model) && model !== SCRIPTED;
  return isFile && worktree !== undefined ? `${SCRIPTED}:${playbookFile(model, program, directory)}` : model;
}

/**
 * Checks a spawn by the lead's model: it must not start a teammate in a directory where the lead itself would have to ask.
 * @throws TeamError PERMISSION_DENIED
 */
function requireInsideLeadDirectories(
  directory: string,
  config: TeamConfig,
  settings: Settings,
  ctx: OperationContext,
): void {
  const lead = config.members.find(({ name }) => name === LEAD_NAME);
  const cwd = lead?.cwd || ctx.cwd;
  const own = [cwd, ...additionalDirectories(settings, { ...ctx, cwd })].map(realPathOf);
  if (lead?.mode === "bypassPermissions" || own.some((place) => isInside(realPathOf(directory), place)))
    return;
  throw new TeamError(
    "PERMISSION_DENIED",
    `${directory} is outside the lead's working directories; no teammate was started.`,
    { hint: "Only a person can spawn a teammate outside the lead's directories." },
  );
}
