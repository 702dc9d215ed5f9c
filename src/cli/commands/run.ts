import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { defaultModelName, isScripted, resolveModelName, SCRIPTED } from "../../agent/model/model-names.ts";
import { TEAMMATE_MODES, type TeammateMode } from "../../backend/choose-backend.ts";
import { TeamError } from "../../errors.ts";
import { requirePrice } from "../../operations/budget.ts";
import { isManuallyLed } from "../../operations/run/take-over-lead.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import type { Env } from "../../os/env.ts";
import { loadPlaybook, playbookFile, playbooksDirectory } from "../../runtime/agent/models.ts";
import { checkRecording, RECORDING_VARIABLE } from "../../runtime/agent/recording.ts";
import { openBackends } from "../../runtime/backends.ts";
import { runLeadDetached } from "../../runtime/lead/detached-lead.ts";
import type { LeadPlan } from "../../runtime/lead/lead.ts";
import { runLead } from "../../runtime/lead/run-lead.ts";
import { isInSession, reportingFailure } from "../../runtime/lead/run-result.ts";
import { openOwnTeam, refuseSecondTeam } from "../../runtime/operation-context.ts";
import type { BudgetLimits } from "../../schema/budget.ts";
import type { BackendType } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { PERMISSION_MODES } from "../../schema/permission-modes.ts";
import { isPricedBy, loadSettings } from "../../settings/settings.ts";
import type { Settings } from "../../settings/settings-schema.ts";
import { teamsHome } from "../../team/ref.ts";
import { DEBUG_VARIABLE } from "../../telemetry/debug-flag.ts";
import type { Call } from "../../terminal/call.ts";
import type { Io } from "../../terminal/io.ts";
import { line } from "../../terminal/output.ts";
import { optionWords } from "../../text/shell-quote.ts";
import { checkAudit, reportCheck } from "../audit-report.ts";
import { defineCommand, usageError } from "../command.ts";
import { BUDGET_OPTIONS, BYPASS_SWITCH, limitsFromOptions } from "../option-values.ts";
import { askTrust } from "../trust-prompt.ts";

const ARGS = [
  {
    name: "goal",
    summary: "what the team should do; - reads it from stdin (default: you type it)",
    optional: true,
    many: true,
  },
] as const;

const OPTIONS = {
  model: {
    value: "model",
    summary: "the lead's model: haiku, sonnet (the default with a key), opus, scripted[:file] or any id",
  },
  playbook: { value: "file", summary: "play a playbook instead of calling a model" },
  record: { value: "file", summary: "record the run as a playbook for --playbook" },
  teammateMode: { value: "mode", summary: "where teammates live (default: auto)", choices: TEAMMATE_MODES },
  permissionMode: {
    value: "mode",
    summary:
      "what agents may do without asking (default: permissions.defaultMode of the settings, else default)",
    choices: PERMISSION_MODES,
    shorthand: BYPASS_SWITCH,
  },
  delegate: { summary: "the lead only coordinates; --permission-mode applies to its teammates" },
  systemPrompt: { value: "text", summary: "the lead's system prompt, instead of the default" },
  appendSystemPrompt: { value: "text", summary: "text to add at the end of the lead's system prompt" },
  resume: {
    summary:
      "resume a team whose lead has ended, or lead one that you led by hand (it is kept afterwards); --team selects it",
  },
  session: { summary: "give the team its own tmux session" },
  here: { summary: "put teammates next to this pane instead of into their own window" },
  noSidebar: { summary: "do not open the sidebar" },
  detach: { summary: "run the lead in a detached tmux session, and return at once" },
  ...BUDGET_OPTIONS,
  debug: { summary: "record the agents' decisions and reasons, for teams logs <agent> --debug" },
  keep: { summary: "keep the team's files also when its work is done" },
  rm: { summary: "delete the team when the run ends, also with unfinished work" },
  report: { value: "file", summary: "where the built-in audit writes its report (default: AUDIT.md)" },
} as const;

export const command = defineCommand({
  name: "run",
  summary: "Give a goal to a lead agent, which builds a team and works with it here",
  args: ARGS,
  options: OPTIONS,
  examples: [
    'teams run "review this repository for security problems"',
    "teams run --resume --team docs",
    "teams run --model scripted --report /tmp/AUDIT.md",
  ],
  notes:
    "Without a key (ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN) or a base URL (ANTHROPIC_BASE_URL), the built-in playbook " +
    "plays: a team audits the git repository of this directory. Everything but the thinking is real.\n" +
    "You are asked about each action that no rule and no --permission-mode allows, and the run waits for your answer. Answer in the pane, " +
    "or without a terminal with teams approvals and teams approve.\n" +
    "When all tasks are done, the run deletes its team. After every other end (Ctrl-C, /exit, a model error) it keeps the members, " +
    "tasks and conversations, and prints how to continue. Only the team of the built-in playbook, which cannot be resumed, is " +
    "always deleted; --keep keeps its files.",
  run: (call) => startRun(call),
});

type RunCall = Call<typeof ARGS, typeof OPTIONS>;

async function startRun(call: RunCall): Promise<number> {
  const { io, options, out } = call;
  refuseSecondTeam(call, "run a team of its own");
  return reportingFailure(io.env, async () => {
    const { plan, goal, backend, notes } = await checkRun(call);
    for (const text of notes) out.note(text);
    // A detached session may have no user to ask; in a session that teams opened, the user was asked before.
    if (!options.detach && !isInSession(io.env)) await askTrust(call);
    if (!wantsSession(call, backend)) return runLead(call, plan);
    return runLeadDetached(call, plan, { attach: !options.detach, goal });
  });
}

/** Whether the run needs a new tmux session: with `--detach`, else for a terminal outside tmux, with the lead in its first pane. */
function wantsSession({ options, out, io }: RunCall, backend: BackendType): boolean {
  if (options.detach) return true;
  // The team may have its own session already, with its teammates in it.
  if (options.resume) return false;
  const isForSession = backend === "tmux" && !io.env.TMUX && !out.json;
  return isForSession && io.terminal.stdin && io.terminal.stdout && canBeAttached(io.env);
}

/** tmux cannot draw on a terminal of unknown type, or on a dumb one. */
function canBeAttached({ TERM }: Env): boolean {
  return Boolean(TERM) && TERM !== "dumb" && TERM !== "unknown";
}

interface CheckedRun {
  readonly plan: LeadPlan;
  /** As the user gave it; empty without one. */
  readonly goal: string;
  readonly backend: BackendType;
  readonly notes: readonly string[];
}

interface LeadChoice extends Pick<LeadPlan, "team" | "goal" | "resumes"> {
  readonly model: string;
  /** The goal as the user gave it. */
  readonly typed: string;
}

/** Decides which team is led, by which model and with which goal. @throws TeamError INVALID_INPUT, and the errors of {@link teamToResume} */
async function chooseLead(call: RunCall): Promise<LeadChoice> {
  const { args, options, io } = call;
  const typed = await goalOf(args.goal, io);
  if (options.resume) {
    const { team, model: before, wasByHand } = teamToResume(call);
    const model = modelOf(call, before);
    requireResumable(call, team, model, wasByHand);
    return { model, typed, team, goal: typed, resumes: { teammateMode: options.teammateMode, wasByHand } };
  }
  const model = modelOf(call, undefined);
  requireGoal(call, typed, model);
  // A name of this form may be changed by the lead, see isGeneratedTeamName.
  const team = options.team ?? `run-${randomBytes(2).toString("hex")}`;
  return { model, typed, team, goal: typed === "" && isScripted(model) ? "Play the playbook." : typed };
}

/** Finds every mistake in the options before anything is created. */
async function checkRun(call: RunCall): Promise<CheckedRun> {
  const { options, io } = call;
  const { model: given, typed, ...led } = await chooseLead(call);
  const builtIn = given === SCRIPTED;
  requireUsedOptions(call, builtIn);
  const settings = loadSettings(teamsHome(io.env).root, io.cwd);
  if (isScripted(given)) loadPlaybook(playbookFile(given, io.program, io.cwd), [LEAD_NAME]);
  const model = isScripted(given) ? given : resolveModelName(given, settings.teams.models);
  const budget = budgetOf(call, model, settings);
  const spawn = spawnOptions(call, settings);
  const { backend } = await openBackends(io.env).choose(spawn.mode, "run");
  const report = builtIn ? await checkAudit({ cwd: io.cwd, report: options.report, env: io.env }) : undefined;
  const record = options.record === undefined ? undefined : checkRecording(options.record, io.cwd);
  const delegate = options.delegate || options.permissionMode === "delegate";
  const givenMode = options.permissionMode === "delegate" ? undefined : options.permissionMode;
  const mode = givenMode ?? (builtIn ? "bypassPermissions" : undefined);
  // Identifies this run, even if another run's team has the same name.
  const run = randomUUID();
  const plan: LeadPlan = {
    ...led,
    model: isScripted(model) && !builtIn ? `${SCRIPTED}:${playbookFile(model, io.program, io.cwd)}` : model,
    mode,
    delegate,
    promptOverrides: defined({ override: options.systemPrompt, append: options.appendSystemPrompt }),
    spawn,
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
    ...(report === undefined ? {} : { check: reportCheck(report, run) }),
  };
  const notes = [
    ...(builtIn ? builtInNotes(typed, options.permissionMode === undefined) : []),
    ...(plan.keep && !options.keep ? [`${led.team} was led by hand, so it is kept when the run ends.`] : []),
  ];
  return { plan, goal: typed, backend: backend.type, notes };
}

/** Refuses options that would have no effect. @throws TeamError INVALID_INPUT */
function requireUsedOptions({ options }: RunCall, builtIn: boolean): void {
  if (options.report !== undefined && !builtIn)
    throw usageError(command, "accepts --report only for the built-in audit (--model scripted).");
  if (options.keep && options.rm) throw usageError(command, "accepts --keep or --rm, not both.");
  if (options.here && options.session) throw usageError(command, "accepts --here or --session, not both.");
}

/** @throws TeamError INVALID_MODEL for a limit in dollars if the model's price is not known */
function budgetOf({ options }: RunCall, model: string, settings: Settings): BudgetLimits {
  const limits = limitsFromOptions(options);
  if (limits.maxCostUsd !== undefined) requirePrice(model, isPricedBy(settings));
  return limits;
}

/** @throws TeamError TEAM_NOT_FOUND, INVALID_INPUT, and PERMISSION_DENIED if another program created the team */
function teamToResume({ io, options }: RunCall): {
  readonly team: string;
  readonly model: string | undefined;
  readonly wasByHand: boolean;
} {
  const { ref, config } = openOwnTeam(io.env, { ...options, force: false }, undefined);
  const model = config.members.find(({ name }) => name === LEAD_NAME)?.model;
  return { team: ref.team, model, wasByHand: isManuallyLed(config) };
}

/** @throws TeamError INVALID_INPUT */
function requireResumable({ options }: RunCall, team: string, model: string, wasByHand: boolean): void {
  const refuse = (message: string, hint: string): never => {
    throw new TeamError("INVALID_INPUT", `${message}; nothing was done.`, { hint });
  };
  const words = optionWords("--team", team);
  if (model === SCRIPTED)
    refuse(
      "The built-in audit cannot be resumed",
      `Choose another model for its lead with --model, or end the team: teams kill ${words}`,
    );
  if (options.rm && wasByHand)
    refuse(
      "A run does not delete a team that was led by hand",
      "Leave --rm out, and run teams delete afterwards.",
    );
  if (options.detach)
    refuse("A team cannot be resumed with --detach", "Run it in your own terminal, without --detach.");
}

/** Checks that there is a goal, a playbook, or a user who can type the goal. @throws TeamError INVALID_INPUT */
function requireGoal({ io, options, out }: RunCall, goal: string, model: string): void {
  const isTyped = io.terminal.stdin && io.terminal.stdout && !out.json && !options.detach;
  if (goal !== "" || isScripted(model) || isTyped) return;
  throw new TeamError("INVALID_INPUT", "There is no goal.", {
    hint: 'Say what the team should do: teams run "…"',
  });
}

/** @param before the model of the lead whose team is resumed */
function modelOf({ options, io }: RunCall, before: string | undefined): string {
  if (options.playbook === undefined) return options.model ?? before ?? defaultModelName(io.env);
  if (options.model !== undefined && !isScripted(options.model)) {
    throw new TeamError(
      "INVALID_INPUT",
      "--playbook and --model exclude each other: a playbook needs no model.",
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
  return { command: "run", placement, mode: options.teammateMode ?? teammateMode };
}

function builtInNotes(goal: string, ownMode: boolean): string[] {
  const first = "No model is set up: the built-in audit plays. Everything but the thinking is real.";
  return [
    goal === "" ? first : line`${first} It does not read the goal: ${goal}`,
    ...(ownMode
      ? ["Its commands are fixed and known, so they run without asking; it writes only its report."]
      : []),
  ];
}
