import { randomBytes, randomUUID } from "node:crypto";
import { join } from "node:path";
import { defaultModelName, isScripted, resolveModelName, SCRIPTED } from "../../agent/model/model-names.ts";
import { TEAMMATE_MODES, type TeammateMode } from "../../backend/choose-backend.ts";
import { TeamError } from "../../errors.ts";
import { requirePrice } from "../../operations/budget.ts";
import { isByHand } from "../../operations/run/take-over-lead.ts";
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
import { pricesIn } from "../../settings/prices.ts";
import { loadSettings } from "../../settings/settings.ts";
import type { Settings } from "../../settings/settings-schema.ts";
import { teamsHome } from "../../team/ref.ts";
import { DEBUG_VARIABLE } from "../../telemetry/debug-flag.ts";
import type { Call } from "../../terminal/call.ts";
import type { Io } from "../../terminal/io.ts";
import { line } from "../../terminal/paint.ts";
import { optionWords } from "../../text/shell-quote.ts";
import { checkAudit, reportCheck } from "../audit-report.ts";
import { BUDGET_OPTIONS, limitsIn } from "../budget-options.ts";
import { defineCommand } from "../define-command.ts";
import { usageError } from "../parse-args.ts";
import { askTrust } from "../trust-prompt.ts";

const ARGS = [
  {
    name: "goal",
    summary: "what is to be done; `-` reads it from stdin, without one you type it",
    optional: true,
    many: true,
  },
] as const;

const OPTIONS = {
  model: {
    value: "model",
    summary: "the lead's model: haiku, sonnet (by default, with a key), opus, an id, scripted[:file]",
  },
  playbook: { value: "file", summary: "play a playbook instead of asking a model" },
  record: { value: "file", summary: "write a playbook of the run, to be played with --playbook" },
  teammateMode: { value: "mode", summary: "where teammates live; auto by default", choices: TEAMMATE_MODES },
  permissionMode: {
    value: "mode",
    summary: "what may be done without asking; permissions.defaultMode, else default",
    choices: PERMISSION_MODES,
  },
  delegate: { summary: "the lead only coordinates; its teammates have --permission-mode" },
  systemPrompt: { value: "text", summary: "the lead's system prompt, in place of the default one" },
  appendSystemPrompt: { value: "text", summary: "text added at the end of the lead's system prompt" },
  resume: {
    summary:
      "take up the team whose lead has ended, or that you led by hand (it is kept): --team, or the only one",
  },
  session: { summary: "give the team a tmux session of its own" },
  here: { summary: "put teammates beside this pane instead of into a window of their own" },
  noSidebar: { summary: "do not open the sidebar" },
  detach: { summary: "lead in a detached tmux session and return at once" },
  ...BUDGET_OPTIONS,
  debug: { summary: "write down what the agents decide and why: teams logs <agent> --debug" },
  keep: { summary: "keep the team's files at the end" },
  report: { value: "file", summary: "where the built-in audit writes its report (AUDIT.md)" },
} as const;

export const command = defineCommand({
  name: "run",
  summary: "Give a goal to a lead, which builds its team and works on it here",
  args: ARGS,
  options: OPTIONS,
  examples: [
    'teams run "review this repository for security problems"',
    "teams run --resume --team docs",
    "teams run --model scripted --report /tmp/AUDIT.md",
  ],
  notes:
    "Without a key (ANTHROPIC_API_KEY, ANTHROPIC_AUTH_TOKEN) or a base URL (ANTHROPIC_BASE_URL) the built-in playbook is " +
    "played: a team audits the git repository of this directory. Everything but the thinking is real.\n" +
    "You are asked for what no rule and no --permission-mode allows: in the pane, or without a terminal by teams approvals " +
    "and teams approve; the run waits for the answer.",
  run: (call) => startRun(call),
});

type RunCall = Call<typeof ARGS, typeof OPTIONS>;

async function startRun(call: RunCall): Promise<number> {
  const { io, options, out } = call;
  refuseSecondTeam(call, "run a team of its own");
  return reportingFailure(io.env, async () => {
    const { plan, goal, backend, notes } = await checked(call);
    for (const text of notes) out.note(text);
    // In a session that nobody may look at nobody is asked, and whoever looks at one has been.
    if (!options.detach && !isInSession(io.env)) await askTrust(call);
    if (!wantsSession(call, backend)) return runLead(call, plan);
    return runLeadDetached(call, plan, { attach: !options.detach, goal });
  });
}

/** `--detach` wants one in any case; else a terminal outside tmux gets one, with the lead in its first pane. */
function wantsSession({ options, out, io }: RunCall, backend: BackendType): boolean {
  if (options.detach) return true;
  // A session of its own it may have already, with its teammates in it.
  if (options.resume) return false;
  const isForSession = backend === "tmux" && !io.env.TMUX && !out.json;
  return isForSession && io.terminal.stdin && io.terminal.stdout && canBeAttached(io.env);
}

/** tmux draws on no terminal that it is not told the kind of, or that can do nothing. */
function canBeAttached({ TERM }: Env): boolean {
  return Boolean(TERM) && TERM !== "dumb" && TERM !== "unknown";
}

interface Checked {
  readonly plan: LeadPlan;
  /** As it was given; empty where none was. */
  readonly goal: string;
  readonly backend: BackendType;
  readonly notes: readonly string[];
}

interface Led extends Pick<LeadPlan, "team" | "goal" | "resumes"> {
  readonly model: string;
  /** The goal as it was given. */
  readonly typed: string;
}

/** @throws TeamError INVALID_INPUT; TEAM_NOT_FOUND and what {@link teamToTakeUp} throws */
async function whatToLead(call: RunCall): Promise<Led> {
  const { args, options, io } = call;
  const typed = await goalOf(args.goal, io);
  if (options.resume) {
    const { team, model: before, wasByHand } = teamToTakeUp(call);
    const model = modelOf(call, before);
    requireResumable(call, team, model);
    return { model, typed, team, goal: typed, resumes: { teammateMode: options.teammateMode, wasByHand } };
  }
  const model = modelOf(call, undefined);
  requireGoal(call, typed, model);
  const team = options.team ?? `run-${randomBytes(2).toString("hex")}`;
  return { model, typed, team, goal: typed === "" && isScripted(model) ? "Play the playbook." : typed };
}

/** Everything that can be wrong is found here, before anything is made. */
async function checked(call: RunCall): Promise<Checked> {
  const { options, io } = call;
  const { model, typed, ...led } = await whatToLead(call);
  const builtIn = model === SCRIPTED;
  requireUse(call, builtIn);
  const settings = loadSettings(teamsHome(io.env).root, io.cwd);
  if (isScripted(model)) loadPlaybook(playbookFile(model, io.program, io.cwd), [LEAD_NAME]);
  else resolveModelName(model, settings.teams.models);
  const budget = budgetOf(call, model, settings);
  const spawn = spawnOptions(call, settings);
  const { backend } = await openBackends(io.env).choose(spawn.mode, "run");
  const report = builtIn ? await checkAudit({ cwd: io.cwd, report: options.report, env: io.env }) : undefined;
  const record = options.record === undefined ? undefined : checkRecording(options.record, io.cwd);
  const delegate = options.delegate || options.permissionMode === "delegate";
  const given = options.permissionMode === "delegate" ? undefined : options.permissionMode;
  const mode = given ?? (builtIn ? "bypassPermissions" : undefined);
  // Names this very run, also beside another of a team that is called the same.
  const run = randomUUID();
  const plan: LeadPlan = {
    ...led,
    model: isScripted(model) && !builtIn ? `${SCRIPTED}:${playbookFile(model, io.program, io.cwd)}` : model,
    mode,
    delegate,
    promptOverrides: defined({ override: options.systemPrompt, append: options.appendSystemPrompt }),
    spawn,
    // What a person made is not a run's to delete.
    keep: options.keep || led.resumes?.wasByHand === true,
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

/** Of an option that would change nothing. @throws TeamError INVALID_INPUT */
function requireUse({ options }: RunCall, builtIn: boolean): void {
  if (options.report !== undefined && !builtIn)
    throw usageError(command, "takes --report for the built-in audit only, which --model scripted plays.");
  if (options.here && options.session) throw usageError(command, "takes --here or --session, not both.");
}

/** @throws TeamError INVALID_MODEL where nobody can count what is not to be exceeded */
function budgetOf({ options }: RunCall, model: string, settings: Settings): BudgetLimits {
  const limits = limitsIn(options);
  if (limits.maxCostUsd !== undefined) requirePrice(model, pricesIn(settings));
  return limits;
}

/** @throws TeamError TEAM_NOT_FOUND, INVALID_INPUT, and PERMISSION_DENIED where it is another program's */
function teamToTakeUp({ io, options }: RunCall): {
  readonly team: string;
  readonly model: string | undefined;
  readonly wasByHand: boolean;
} {
  const { ref, config } = openOwnTeam(io.env, { ...options, force: false }, undefined);
  const model = config.members.find(({ name }) => name === LEAD_NAME)?.model;
  return { team: ref.team, model, wasByHand: isByHand(config) };
}

/** @throws TeamError INVALID_INPUT */
function requireResumable({ options }: RunCall, team: string, model: string): void {
  if (model === SCRIPTED) {
    throw new TeamError("INVALID_INPUT", "The built-in audit is not taken up again; nothing was done.", {
      hint: `Another model may lead its team: --model; or end it: teams kill ${optionWords("--team", team)}`,
    });
  }
  if (!options.detach) return;
  throw new TeamError("INVALID_INPUT", "A team is taken up in your own terminal; nothing was done.", {
    hint: "Leave --detach out.",
  });
}

/** Without a goal a playbook plays, or somebody is there who types it. @throws TeamError INVALID_INPUT */
function requireGoal({ io, options, out }: RunCall, goal: string, model: string): void {
  const isTyped = io.terminal.stdin && io.terminal.stdout && !out.json && !options.detach;
  if (goal !== "" || isScripted(model) || isTyped) return;
  throw new TeamError("INVALID_INPUT", "There is no goal.", {
    hint: 'Say what is to be done: teams run "…"',
  });
}

/** @param before that of the lead that is followed */
function modelOf({ options, io }: RunCall, before: string | undefined): string {
  if (options.playbook === undefined) return options.model ?? before ?? defaultModelName(io.env);
  if (options.model !== undefined && !isScripted(options.model)) {
    throw new TeamError("INVALID_INPUT", "--playbook plays without a model, and --model names one.", {
      hint: "Leave one of them out.",
    });
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
  const first = "No model is set up: the built-in audit is played. Everything but the thinking is real.";
  return [
    goal === "" ? first : line`${first} It does not read the goal: ${goal}`,
    ...(ownMode
      ? ["Its commands are fixed and known, so they run without asking; only its report is written."]
      : []),
  ];
}
