import { resolve } from "node:path";
import { defaultModelName, isScripted, SCRIPTED } from "../../agent/model/model-names.ts";
import { TEAMMATE_MODES } from "../../backend/choose-backend.ts";
import { EXIT, TeamError } from "../../errors.ts";
import type { AppliedPlan } from "../../operations/up/apply-plan.ts";
import type { DeclaredTeam } from "../../operations/up/declared-team.ts";
import { isEmptyPlan, type TeamPlan } from "../../operations/up/plan-team.ts";
import { refuseSecondTeam } from "../../runtime/operation-context.ts";
import { deciderOf } from "../../runtime/select-team.ts";
import { loadSettings } from "../../settings/settings.ts";
import { readTeamFile } from "../../settings/team-file/read-team-file.ts";
import { teamFileTrust } from "../../settings/team-file/team-file-trust.ts";
import { readPlace } from "../../team/records/read-records.ts";
import { type TeamRef, teamsHome } from "../../team/ref.ts";
import type { Call } from "../../terminal/call.ts";
import { modeSentence } from "../../terminal/mode-text.ts";
import { line, type Output, type SafeStyler, safeStyler } from "../../terminal/output.ts";
import { optionWords, shellWord } from "../../text/shell-quote.ts";
import { printableJson } from "../../text/terminal-text.ts";
import { bind, defineCommand, parseQuickly, usageError } from "../command.ts";
import { pluralized, REC_OPTION, recOption } from "../option-values.ts";
import { canAsk, isYes } from "../paged-answer.ts";
import { noteIgnored } from "../trust-prompt.ts";
import { requireTrust, wideningLine } from "../up/confirm-file.ts";
import { planText, taskChangeTexts } from "../up/plan-text.ts";
import { type CheckedPlan, checkTeam } from "../up/start-team.ts";
import type { TemplateName } from "../up/templates.ts";

const ARGS = [{ name: "file", summary: "the team file", optional: true }] as const;

/** As in `templates.ts`, which only --template loads. */
const TEMPLATE_NAMES = ["review", "feature", "migration"] as const satisfies readonly TemplateName[];

const OPTIONS = {
  dryRun: { summary: "show what would be done, and do nothing" },
  yes: { short: "y", summary: "change an existing team without asking" },
  model: { value: "model", summary: "use this model instead of the file's models, such as scripted[:file]" },
  teammateMode: {
    value: "mode",
    summary: "where its teammates live (default: teammateMode of the settings, else auto)",
    choices: TEAMMATE_MODES,
  },
  rec: REC_OPTION,
  template: { value: "work", summary: "print a team file to start from", choices: TEMPLATE_NAMES },
  from: { value: "team", summary: "print the file that declares this team" },
  output: { short: "o", value: "file", summary: "with --template and --from: write to this new file" },
  schema: { summary: "print the JSON Schema of a team file" },
} as const;

export const command = defineCommand({
  name: "up",
  summary: "Start the team that a file declares, or change an existing one to match it",
  args: ARGS,
  options: OPTIONS,
  examples: ["teams up --template review -o team.json", "teams up team.json --dry-run", "teams up team.json"],
  notes:
    "A team file is JSON with comments: members, tasks, a lead. A second call changes nothing. For an existing team, up shows the " +
    "difference and asks: it adds members and tasks, restarts stopped members, and changes modes, budgets and how tasks are verified. " +
    "It does not end or delete anything. A file that lets agents do more than your settings do needs your trust: teams trust <file>.\n" +
    "With a lead in the file, up then works as teams run --resume does.",
  async run(call) {
    const { args, options, out } = call;
    const { schema, template, from, output } = options;
    const others = [schema || undefined, template, from].filter((one) => one !== undefined);
    if (others.length + (args.file === undefined ? 0 : 1) > 1)
      throw usageError(command, "accepts only one of <file>, --template, --from and --schema.");
    if (output !== undefined && template === undefined && from === undefined)
      throw usageError(command, "accepts -o only with --template and --from.");
    if (schema) {
      const { teamFileJsonSchema } = await import("../../settings/team-file/team-file-schema.ts");
      const value = teamFileJsonSchema();
      out.answer(value, () => printableJson(value, 2));
      return EXIT.done;
    }
    if (template !== undefined || from !== undefined) {
      const { writeFromTeam, writeTemplate } = await import("../up/write-file.ts");
      if (template !== undefined) writeTemplate(call, template, output);
      else writeFromTeam(call, from ?? "", output);
      return EXIT.done;
    }
    if (args.file === undefined) throw usageError(command, "needs <file>: the team file.");
    return up(call, args.file);
  },
});

type UpCall = Call<typeof ARGS, typeof OPTIONS>;

async function up(call: UpCall, given: string): Promise<number> {
  const { options, io, out } = call;
  if (!options.dryRun) refuseModel(call);
  const { root } = teamsHome(io.env);
  const model = options.model === undefined ? undefined : absoluteModel(options.model, io.cwd);
  const file = readTeamFile(given, { cwd: io.cwd, env: io.env, name: options.team, model });
  const { team } = file;
  const settings = loadSettings(root, team.directory);
  noteIgnored(out, settings);
  const trust = teamFileTrust(root, file, settings);
  if (!options.dryRun) await requireTrust(call, root, file, trust);
  // Listens before the first file is written, so that an interrupted start is reported.
  const signal = options.dryRun ? new AbortController().signal : io.interruption();
  const background: Promise<unknown>[] = [];
  const { teammateMode, dryRun } = options;
  const checked = await checkTeam(call, team, settings, {
    ...{ teammateMode, dryRun, signal },
    screens: recOption(options.rec, io.cwd),
    background: (work) => background.push(work),
  });
  if (options.dryRun) {
    printPlan(call, checked);
    if (trust.unconfirmed.length > 0) {
      out.note(line`To start the team, trust the file first (teams trust ${shellWord(given)}), because of:`);
      for (const field of trust.fields) out.note(`  ${wideningLine(field)}`);
    }
    return EXIT.done;
  }
  if (isEmptyPlan(checked.plan)) {
    out.done(report(call, checked), () =>
      [line`${checked.ref.team} matches ${given}; nothing was changed.`, ...leftText(checked.plan)].join(
        "\n",
      ),
    );
    return EXIT.done;
  }
  if (!(await mayChange(call, checked))) return signal.aborted ? EXIT.interrupted : EXIT.failed;
  const applied = await checked.apply();
  noteApplied(call, checked, applied);
  noteUnscripted(out, applied, defaultModelName({ ...io.env, ...settings.env }) !== SCRIPTED);
  if (options.rec !== undefined) noteUnrecorded(out, applied, checked.ref);
  await Promise.all(background);
  if (signal.aborted) return EXIT.interrupted;
  return checked.plan.startsLead ? runLead(call, team, checked.ref.team) : EXIT.done;
}

function noteApplied(call: UpCall, checked: CheckedPlan, applied: AppliedPlan): void {
  const { out } = call;
  // A lead prints its own result.
  if (!(out.json && checked.plan.startsLead))
    out.done(report(call, checked, applied), () => resultText(out, checked, applied));
  if (out.json)
    for (const one of checked.plan.modes) {
      const answer = applied.modeAnswers.get(one.name);
      if (answer?.takes === "unknown") out.note(modeSentence(one, answer));
    }
}

/** @param hasModel whether a model is set up, so that the file or the user has named the built-in audit */
function noteUnscripted(out: Output, { started }: AppliedPlan, hasModel: boolean): void {
  const unscripted = started.flatMap((one) => (one.model === SCRIPTED ? [one.name] : []));
  if (unscripted.length === 0) return;
  const first = hasModel ? "" : "No model is set up: ";
  const remedy = hasModel ? "Name another model" : "Set ANTHROPIC_API_KEY";
  out.note(
    line`${first}${unscripted.join(", ")} can only play the built-in audit. ${remedy}, or use --model scripted:<file>.`,
  );
}

function noteUnrecorded(out: Output, { started, resumed }: AppliedPlan, ref: TeamRef): void {
  const names = [...started.map(({ name }) => name), ...resumed];
  for (const name of names.filter((one) => readPlace(ref, one)?.paneId === undefined))
    out.note(line`${name} is not recorded: it has no tmux pane.`);
}

/** @throws TeamError NESTED_TEAM, ALREADY_LEADING, PERMISSION_DENIED in the shell of an agent */
function refuseModel(call: UpCall): void {
  refuseSecondTeam(call, "start a declared team");
  if (deciderOf(call.io.env) === "person") return;
  throw new TeamError("PERMISSION_DENIED", "Only a person can start a declared team; nothing was done.", {
    hint: "Ask the user to do it. teams up <file> --dry-run shows what it would do.",
  });
}

function absoluteModel(model: string, cwd: string): string {
  const [, file] = /^scripted:(.+)$/s.exec(model) ?? [];
  return isScripted(model) && file !== undefined ? `scripted:${resolve(cwd, file)}` : model;
}

/** Returns the facts for `--json`. */
function report({ io }: UpCall, { team, plan, ref }: CheckedPlan, applied?: AppliedPlan): object {
  return {
    team: ref.team,
    file: resolve(io.cwd, team.file),
    changed: applied !== undefined,
    new: plan.isNew,
    members: applied?.started ?? plan.members.map(({ name }) => ({ name })),
    resumed: applied?.resumed ?? plan.resumed,
    tasks:
      applied?.tasks ??
      plan.tasks.map(({ subject, owner, blockedBy, verify, reviewer, touches = [] }) => ({
        ...{ subject, owner: owner ?? null, blockedBy },
        ...{ verify: verify ?? null, reviewer: reviewer ?? null, touches },
      })),
    taskChanges: plan.taskChanges,
    modes: plan.modes.map(({ name, before, mode }) => ({ name, before: before ?? null, mode })),
    budgets: plan.budgets.map(({ name, before, limits }) => ({ name: name ?? null, before, limits })),
    lead: plan.startsLead,
    left: plan.left,
  };
}

function printPlan(call: UpCall, checked: CheckedPlan): void {
  const { out } = call;
  const { plan, ref, team } = checked;
  out.answer(report(call, checked), () =>
    isEmptyPlan(plan)
      ? [line`${ref.team} matches ${team.file}.`, ...leftText(plan)].join("\n")
      : [planText(out, team, plan), ...leftText(plan), "Nothing was done (--dry-run)."].join("\n"),
  );
}

function leftText({ left }: TeamPlan): string[] {
  return left.map((text) => line`${text}`);
}

/**
 * Asks whether to change an existing team.
 * @throws TeamError TEAM_EXISTS without a terminal to ask on; nothing was changed
 */
async function mayChange(call: UpCall, { team, plan, ref }: CheckedPlan): Promise<boolean> {
  const { io, out, options } = call;
  if (plan.isNew || options.yes) return true;
  const changes = (styleText: SafeStyler): string =>
    [planText({ columns: out.columns, styleText }, team, plan), ...leftText(plan)].join("\n");
  if (!canAsk(call))
    throw new TeamError(
      "TEAM_EXISTS",
      `${ref.team} already exists, and differs from ${team.file}:\n${changes(safeStyler(false))}\nNothing was changed.`,
      {
        hint: "To make the changes, run the command again with --yes; to preview them, with --dry-run.",
        details: { team: ref.team },
      },
    );
  io.out(`${line`${ref.team} differs from ${team.file}:`}\n${changes(out.styleText)}\n`);
  // Keys that were typed before do not count.
  await io.dropTyped();
  io.out("Make these changes? [y/N] ");
  if (isYes(await io.readLine())) return true;
  io.out("Nothing was changed.\n");
  return false;
}

function resultText(out: Output, { plan, ref }: CheckedPlan, applied: AppliedPlan): string {
  const { started, resumed, tasks, modeAnswers } = applied;
  const team = optionWords("--team", ref.team);
  const isRunning = started.length + resumed.length > 0;
  const hasPanes =
    started.some(({ paneId }) => paneId !== null) ||
    resumed.some((name) => readPlace(ref, name)?.paneId !== undefined);
  const panes = hasPanes ? `Their panes: teams attach ${team}   their` : "Their";
  return [
    plan.isNew ? line`Created team ${ref.team}.` : line`Changed team ${ref.team}.`,
    ...plan.modes.map((one) => modeSentence(one, modeAnswers.get(one.name))),
    ...plan.budgets.map(({ name }) => line`The budget of ${name ?? "the team"} was changed.`),
    ...plan.taskChanges.flatMap((one) => taskChangeTexts(one).map((text) => line`Task #${one.id}: ${text}.`)),
    ...(tasks.length === 0 ? [] : [line`Added ${pluralized(tasks.length, "task")}: ${idRange(tasks)}.`]),
    ...resumed.map((name) => line`${name} was restarted with its conversation.`),
    ...started.map(
      ({ name, color, paneId, backend, pid, worktree }) =>
        line`${out.styleText(name, { member: color })} is ready: ${paneId === null ? backend : `pane ${paneId}`}, pid ${pid ?? "?"}${worktree === null ? "" : `, worktree ${worktree}`}.`,
    ),
    ...leftText(plan),
    ...(isRunning ? [line`${panes} states: teams status ${team}`] : []),
    ...(isRunning || tasks.length === 0 ? [] : [line`The tasks: teams task list ${team}`]),
  ].join("\n");
}

function idRange(tasks: AppliedPlan["tasks"]): string {
  const ids = tasks.map(({ id }) => `#${id}`);
  return ids.length > 2 ? `${ids[0]} to ${ids.at(-1)}` : ids.join(" and ");
}

/** Lets the declared lead take over the team, as `teams run --resume` does. */
async function runLead(
  call: UpCall,
  { lead, model, permissionMode, file }: DeclaredTeam,
  team: string,
): Promise<number> {
  const { command: run } = await import("./run.ts");
  const leadModel = lead?.model ?? (lead?.cli === undefined ? model : undefined);
  const one = (option: string, value: string | undefined): string[] =>
    value === undefined ? [] : [`${option}=${value}`];
  const words = [
    ...["--resume", `--team=${team}`],
    ...one("--model", leadModel),
    ...one("--cli", lead?.cli),
    ...one("--permission-mode", permissionMode),
    ...one("--teammate-mode", call.options.teammateMode),
    ...(lead?.delegate === true ? ["--delegate"] : []),
    ...(["json", "quiet", "verbose"] as const).flatMap((flag) => (call.options[flag] ? [`--${flag}`] : [])),
    ...(lead?.goal === undefined ? [] : ["--", lead.goal]),
  ];
  const parsed = parseQuickly(run, words);
  if (parsed === undefined) throw new Error(`The lead of ${file} gave a wrong command line.`);
  const { io, out, runProgram } = call;
  const status = await run.run({ ...bind(run, parsed), io, out, runProgram });
  return status ?? EXIT.done;
}
