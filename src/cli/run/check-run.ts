import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { defaultModelName, isScripted, SCRIPTED } from "../../agent/model/model-names.ts";
import type { TeammateMode } from "../../backend/choose-backend.ts";
import { requireCastDirectory } from "../../casts/cast-files.ts";
import { TeamError } from "../../errors.ts";
import { checkCliVersion } from "../../operations/spawn/check-cli.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import { requireValidTools, type ToolLimits } from "../../operations/spawn/tool-limits.ts";
import { playbooksDirectory } from "../../runtime/agent/models.ts";
import { checkRecording, RECORDING_VARIABLE } from "../../runtime/agent/recording.ts";
import { openBackends } from "../../runtime/backends.ts";
import { isInteractive, type LeadPlan } from "../../runtime/lead/lead.ts";
import type { BackendType } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { loadSettings } from "../../settings/settings.ts";
import type { Settings } from "../../settings/settings-schema.ts";
import { teamsHome } from "../../team/ref.ts";
import { DEBUG_VARIABLE } from "../../telemetry/debug-flag.ts";
import type { Io } from "../../terminal/io.ts";
import { usageError } from "../command.ts";
import { limitsFromOptions, recOption } from "../option-values.ts";
import { type CliChoice, checkLeadCli, cliName, refuseOwnOptions } from "../run-cli.ts";
import { toolLimits } from "../tool-options.ts";
import { builtInNotes, checkAudit, reportCheck } from "./audit-report.ts";
import { ownLead } from "./own-lead.ts";
import { requireResumable, teamToResume } from "./resumed-team.ts";

import { RUN, type RunCall } from "./run-options.ts";

export interface CheckedRun {
  readonly plan: LeadPlan;
  /** The goal as the user gave it; empty if none was given. */
  readonly goal: string;
  readonly backend: BackendType;
  readonly notes: readonly string[];
}

interface LeadChoice extends Pick<LeadPlan, "team" | "goal" | "resumes" | "limits"> {
  readonly model: string;
  readonly cli: CliChoice | undefined;
  /** The goal as the user gave it. */
  readonly typed: string;
}

/** Decides which team is led, by which model and with which goal. @throws TeamError INVALID_INPUT, and the errors of {@link teamToResume} */
async function chooseLead(call: RunCall, settings: Settings): Promise<LeadChoice> {
  const { args, options, io } = call;
  const typed = await goalOf(args.goal, io);
  const name = cliName(RUN, options);
  const { effort } = options;
  const given = toolLimits(RUN, options);
  if (options.resume) {
    const resumed = teamToResume(io.env, options);
    const { team, wasByHand, cli: before } = resumed;
    const cli = cliOf(name ?? before?.name, effort ?? (name === undefined ? before?.effort : undefined));
    // Another CLI does not know the model.
    const isSameCli = cli?.name === before?.name;
    const model = cliModel(call, settings, {
      cli,
      limits: given,
      before: isSameCli ? resumed.model : undefined,
    });
    requireResumable(options, resumed, { model, cli: cli?.name });
    const limits = { ...resumed.limits, ...given };
    const resumes = { teammateMode: options.teammateMode, wasByHand };
    return { model, cli, limits, typed, team, goal: typed, resumes };
  }
  const cli = cliOf(name, effort);
  const model = cliModel(call, settings, { cli, limits: given });
  requireGoal(call, typed, model);
  // A name of this form may be changed by the lead, see isGeneratedTeamName.
  const team = options.team ?? `run-${randomBytes(2).toString("hex")}`;
  const goal = typed === "" && isScripted(model) ? "Play the playbook." : typed;
  return { model, cli, limits: given, typed, team, goal };
}

/** @throws TeamError INVALID_INPUT for an effort without a CLI */
function cliOf(name: string | undefined, effort: string | undefined): CliChoice | undefined {
  if (name !== undefined) return { name, effort };
  if (effort !== undefined) throw usageError(RUN, "accepts --effort only with --cli.");
  return undefined;
}

interface LeadModelChoice {
  readonly cli: CliChoice | undefined;
  readonly limits: ToolLimits;
  /** The model of the lead whose team is resumed. */
  readonly before?: string | undefined;
}

function cliModel(call: RunCall, settings: Settings, { cli, limits, before }: LeadModelChoice): string {
  if (cli === undefined) return modelOf(call, settings, before);
  refuseOwnOptions(cli.name, { ...call.options, ...limits });
  return call.options.model ?? before ?? cli.name;
}

/** Finds every mistake in the options before anything is created. */
export async function checkRun(call: RunCall): Promise<CheckedRun> {
  const { options, io } = call;
  const settings = loadSettings(teamsHome(io.env).root, io.cwd);
  const { model: given, cli: chosen, typed, ...led } = await chooseLead(call, settings);
  const builtIn = given === SCRIPTED;
  const once = endsAtGoal(call, given);
  requireUsedOptions(call, builtIn);
  const { model, budget } = chosen === undefined ? ownLead(call, given, settings) : cliLead(call, given);
  const spawn = spawnOptions(call, settings);
  const { backend } = await openBackends(io.env).choose(spawn.mode, "run");
  const report = builtIn ? await checkAudit({ cwd: io.cwd, report: options.report, env: io.env }) : undefined;
  const record = options.record === undefined ? undefined : checkRecording(options.record, io.cwd);
  const screens = checkScreens(call, backend.type);
  const delegate = options.delegate || options.permissionMode === "delegate";
  const givenMode = options.permissionMode === "delegate" ? undefined : options.permissionMode;
  const mode = givenMode ?? (builtIn ? "bypassPermissions" : undefined);
  requireValidTools("the lead", led.limits);
  const promptOverrides = defined({ override: options.systemPrompt, append: options.appendSystemPrompt });
  const cli = chosen && checkLeadCli(call, chosen, { ...options, mode, promptOverrides, budget }, settings);
  if (cli !== undefined) await checkCliVersion(cli.name, settings.teams.adapters, io.env);
  // Identifies this run, even if another run's team has the same name.
  const run = randomUUID();
  const plan: LeadPlan = {
    ...led,
    model,
    cli,
    mode,
    delegate,
    promptOverrides,
    spawn,
    once,
    // A run must not delete a team that a person created.
    keep: options.keep || led.resumes?.wasByHand === true,
    remove: options.rm,
    resumable: !builtIn,
    budget,
    sidebar: !options.noSidebar,
    env: {
      ...(options.debug ? { [DEBUG_VARIABLE]: "1" } : {}),
      TEAMS_PLAYBOOKS: playbooksDirectory(io.program),
      ...(report === undefined ? {} : { TEAMS_REPORT: report, TEAMS_RUN: run }),
      ...(record === undefined
        ? {}
        : { [RECORDING_VARIABLE]: join(teamsHome(io.env).root, "recordings", run) }),
    },
    ...(record === undefined ? {} : { record }),
    screens,
    ...(report === undefined ? {} : { check: reportCheck(report, run) }),
  };
  const hasModel = defaultModelName({ ...io.env, ...settings.env }) !== SCRIPTED;
  const notes = [
    ...(builtIn ? builtInNotes(typed, options.permissionMode === undefined, hasModel) : []),
    ...(plan.keep && !options.keep ? [`${led.team} was led by hand, so it is kept when the run ends.`] : []),
  ];
  return { plan, goal: typed, backend: backend.type, notes };
}

/** @throws TeamError INVALID_INPUT without panes; a system error if the directory cannot be created */
function checkScreens({ options, io }: RunCall, backend: BackendType): LeadPlan["screens"] {
  const screens = recOption(options.rec, io.cwd);
  if (screens !== undefined && backend !== "tmux")
    throw usageError(RUN, "accepts --rec only for agents in tmux panes.");
  if (typeof screens === "string") requireCastDirectory(screens);
  return screens;
}

/** Refuses options that would have no effect. @throws TeamError INVALID_INPUT */
function requireUsedOptions({ options }: RunCall, builtIn: boolean): void {
  if (options.report !== undefined && !builtIn)
    throw usageError(RUN, "accepts --report only for the built-in audit (--model scripted).");
  if (options.keep && options.rm) throw usageError(RUN, "accepts --keep or --rm, not both.");
  if (options.here && options.session) throw usageError(RUN, "accepts --here or --session, not both.");
}

/** Only the CLI knows the names of its models, and whether it reports its cost: teams cannot check them here. */
function cliLead({ options }: RunCall, model: string): Pick<LeadPlan, "model" | "budget"> {
  return { model, budget: limitsFromOptions(options) };
}

/** Whether the run ends when its goal is reached: only a user at a terminal can type the next goal. */
function endsAtGoal(call: RunCall, model: string): boolean {
  const { once, detach } = call.options;
  return once || detach || model === SCRIPTED || !isInteractive(call);
}

/** Checks that there is a goal, a playbook, or a user who can type the goal. @throws TeamError INVALID_INPUT */
function requireGoal(call: RunCall, goal: string, model: string): void {
  if (goal !== "" || isScripted(model) || !endsAtGoal(call, model)) return;
  throw new TeamError("INVALID_INPUT", "No goal was given; nothing was started.", {
    hint: 'Say what the team should do: teams run "…"',
  });
}

/** @param before the model of the lead whose team is resumed */
function modelOf({ options, io }: RunCall, settings: Settings, before: string | undefined): string {
  // The key may be in the settings.
  if (options.playbook === undefined)
    return options.model ?? before ?? defaultModelName({ ...io.env, ...settings.env });
  if (options.model !== undefined && !isScripted(options.model)) {
    throw new TeamError(
      "INVALID_INPUT",
      "--playbook and --model are mutually exclusive: a playbook needs no model.",
      {
        hint: "Leave one of them out.",
      },
    );
  }
  return `${SCRIPTED}:${options.playbook}`;
}

async function goalOf(words: readonly string[], io: Io): Promise<string> {
  const goal = words.length === 1 && words[0] === "-" ? await io.readStdin() : words.join(" ");
  return goal.trim();
}

function spawnOptions(
  { options, io }: RunCall,
  { teammateMode }: Settings,
): SpawnOptions & { readonly mode: TeammateMode } {
  const placement = options.here ? "here" : options.session || !io.env.TMUX ? "session" : "team-window";
  const mode = options.teammateMode ?? teammateMode;
  return { command: "run", placement, mode };
}
