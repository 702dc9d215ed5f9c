import { isScripted, SCRIPTED } from "../../agent/model/model-names.ts";
import { isInside } from "../../agent/permissions/protected-paths.ts";
import type { NotHereReason } from "../../backend/backend.ts";
import { TEAMMATE_MODES } from "../../backend/choose-backend.ts";
import { EXIT, TeamError } from "../../errors.ts";
import type { OperationContext } from "../../operations/context.ts";
import { inheritedMode } from "../../operations/permission-mode.ts";
import { checkCli } from "../../operations/spawn/check-cli.ts";
import { type SpawnInput, workingDirectory } from "../../operations/spawn/draft-member.ts";
import { mayModelStart, requireProjectPlaybook } from "../../operations/spawn/model-requests.ts";
import { type SpawnOptions, spawnTeammates } from "../../operations/spawn/spawn.ts";
import type { WorktreeOptions } from "../../operations/worktrees/create-worktree.ts";
import { realPathOf } from "../../os/files/symlinks.ts";
import { agentTypesIn } from "../../runtime/agent/load-agent-types.ts";
import { loadPlaybook, playbookFile } from "../../runtime/agent/models.ts";
import { operationContext, refuseNesting } from "../../runtime/operation-context.ts";
import { deciderOf, type OpenTeam, openTeam } from "../../runtime/select-team.ts";
import type { TeamConfig } from "../../schema/config.ts";
import { defined } from "../../schema/defined.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import { PERMISSION_MODES, SANDBOX_MODES } from "../../schema/permission-modes.ts";
import {
  additionalDirectories,
  bypassForbiddenBy,
  isPricedBy,
  loadSettings,
  worktreeSettings,
} from "../../settings/settings.ts";
import type { Settings } from "../../settings/settings-schema.ts";
import { trustDecision } from "../../settings/trust.ts";
import { memberWord } from "../../team/address-words.ts";
import { castsDirectory } from "../../team/records/cast-directories.ts";
import { DEBUG_VARIABLE } from "../../telemetry/debug-flag.ts";
import { line } from "../../terminal/output.ts";
import { defineCommand, usageError } from "../command.ts";
import { METADATA_OPTION, metadataOption } from "../metadata-option.ts";
import {
  BUDGET_OPTIONS,
  BYPASS_SWITCH,
  limitsFromOptions,
  REC_OPTION,
  recOption,
  textOption,
} from "../option-values.ts";
import { cliName } from "../run-cli.ts";
import { TOOL_OPTIONS, toolLimits } from "../tool-options.ts";
import { noteIgnored } from "../trust-prompt.ts";
export const command = defineCommand({
  name: "spawn",
  summary: "Start a teammate, and return when it is ready",
  args: [{ name: "name", summary: "the teammate's name" }],
  options: {
    prompt: { value: "text", summary: "its first message; - reads it from stdin" },
    agentType: {
      value: "type",
      summary: "general-purpose, Explore, Plan, reviewer, …, or a type from agents/*.md",
    },
    model: { value: "model", summary: "haiku, sonnet, opus, inherit, scripted[:file] or any id" },
    plan: { summary: "it must get a plan approved before it acts" },
    systemPrompt: { value: "text", summary: "its system prompt, instead of its type's and the default" },
    appendSystemPrompt: { value: "text", summary: "text to add at the end of its system prompt" },
    permissionMode: {
      value: "mode",
      summary: "what it may do without asking",
      choices: PERMISSION_MODES,
      shorthand: BYPASS_SWITCH,
    },
    ...TOOL_OPTIONS,
    cli: { value: "name", summary: "a third-party CLI that works in its place: claude, codex, …" },
    effort: { value: "level", summary: "with --cli: how hard its model thinks: low, medium, high, …" },
    acp: { summary: "with --cli: run it by the Agent Client Protocol, without its own screen" },
    native: { summary: "with --cli gemini: show its own screen" },
    sandbox: { value: "mode", summary: "whether its commands run in the sandbox", choices: SANDBOX_MODES },
    cwd: { value: "directory", summary: "where it works (default: this directory)" },
    worktree: {
      value: "branch",
      valueOptional: true,
      summary: "work in its own git worktree, on this branch (default: teams/<team>/<name>)",
    },
    withChanges: { summary: "copy the uncommitted changes of this directory into its worktree" },
    teammateMode: { value: "mode", summary: "where it lives", choices: TEAMMATE_MODES },
    here: { summary: "open its pane in this window instead of the team's window" },
    window: { summary: "open its own tmux window" },
    session: { summary: "use the team's own tmux session" },
    ...BUDGET_OPTIONS,
    metadata: METADATA_OPTION,
    debug: { summary: "record its decisions and reasons, for teams logs <name> --debug" },
    rec: REC_OPTION,
    unique: { summary: "use name-2, name-3, … if the name is taken" },
  },
  examples: [
    'teams spawn reviewer --prompt "Review src/auth for security holes."',
    "teams spawn planner --plan --agent-type architect --prompt - < brief.md",
    'teams spawn dev --worktree --prompt "Fix the flaky test, and commit."',
  ],
  async run(call) {
    const { args, options, io, out } = call;
    refuseNesting(call, "start a teammate");
    const open = openTeam(io.env, options);
    const settings = loadSettings(open.home.root, io.cwd);
    noteIgnored(out, settings);
    if (options.withChanges && options.worktree === undefined)
      throw usageError(command, "accepts --with-changes only with --worktree.");
    const plain = await operationContext(call, open, settings);
    const ctx = options.debug ? { ...plain, env: { ...plain.env, [DEBUG_VARIABLE]: "1" } } : plain;
    const directory = workingDirectory(ctx, defined({ cwd: options.cwd }));
    const maxMode = deciderOf(io.env) === "model" ? inheritedMode(open.config) : undefined;
    // A model chooses the directory, and what is in it counts as its project.
    if (maxMode !== undefined) requireInsideLeadDirectories(directory, open.config, settings, ctx);
    if (options.model !== undefined && isScripted(options.model)) {
      const lead = open.config.members.find(({ name }) => name === LEAD_NAME);
      if (maxMode !== undefined) requireProjectPlaybook(options.model, lead?.model, directory);
      // Read here too, from the teammate's directory, so that a mistake in it is reported here and not in a pane.
      loadPlaybook(playbookFile(options.model, io.program, directory));
    }
    const model = modelIn(options, io.program, directory);
    const prompt = await textOption(io, options.prompt, "prompt");
    const override = await textOption(io, options.systemPrompt, "system prompt");
    const append = await textOption(io, options.appendSystemPrompt, "system prompt");
    const input: SpawnInput = defined({
      promptOverrides: defined({ override, append }),
      name: args.name,
      unique: options.unique,
      plan: options.plan,
      prompt,
      agentType: options.agentType,
      model,
      permissionMode: options.permissionMode,
      ...toolLimits(command, options),
      cwd: options.cwd,
      sandbox: options.sandbox,
      cli: cliName(command, options),
      effort: options.effort,
      metadata: metadataOption(options.metadata),
      worktree: worktreeOption(options),
      maxMode,
      budget: limitsFromOptions(options),
      recording: recordingOf(options.rec, open, io.cwd),
    });
    const { problems } = await agentTypesIn(open.home.root, directory);
    for (const problem of problems) out.note(line`Ignored agent type: ${problem}`);
    // Listens before the first file is written, so that an interrupted start leaves nothing.
    const signal = io.interruption();
    const mode = options.teammateMode ?? settings.teammateMode;
    if (input.cli !== undefined) {
      const { refuseUnsupported } = await import("../../adapter/installed/version-check.ts");
      await refuseUnsupported(input.cli, settings.teams.adapters, ctx.env, signal);
    }
    const background: Promise<unknown>[] = [];
    const [spawned] = await spawnTeammates(ctx, [input], {
      mode,
      modelNames: settings.teams.models,
      isTrusted: (directory) => trustDecision(open.home.root, directory) === true,
      sandbox: settings.teams.sandbox.mode,
      isPriced: isPricedBy(settings),
      checkCli: (cli, one) => checkCli(cli, one, settings.teams.adapters, ctx.env),
      mayStartCli: (cli, one) => mayModelStart(cli, one, settings.permissions),
      placement: placementOf(options),
      worktrees: { ...worktreeSettings(settings), signal },
      signal,
      bypassForbidden: bypassForbiddenBy(settings, ctx.env),
      background: (work) => background.push(work),
    });
    if (spawned === undefined) throw new Error("A spawn without a failure has no result.");
    const isInterrupted = signal.aborted;
    out.done({ ...spawned, team: open.ref.team }, () => {
      const name = memberWord(open.ref, spawned.name, io.env);
      const place = spawned.paneId === null ? spawned.backend : `pane ${spawned.paneId}`;
      return [
        line`${out.styleText(spawned.name, { member: spawned.color })} is ready: ${place}, pid ${spawned.pid ?? "?"}.`,
        ...(spawned.worktree === null
          ? []
          : [line`Its worktree: ${spawned.worktree} on branch ${spawned.branch ?? "?"}`]),
        ...(spawned.notHere === null ? [] : [elsewhereNote(spawned.notHere, settings.teams.minPane)]),
        ...(call.out.verbose ? [line`It runs there because ${spawned.why}.`] : []),
        spawned.paneId === null
          ? line`What it does: teams logs ${name}`
          : line`Its pane: teams attach ${name}   its screen: teams peek ${name}`,
      ].join("\n");
    });
    if (options.rec !== undefined && spawned.paneId === null)
      out.note(line`${spawned.name} is not recorded: it has no tmux pane.`);
    if (spawned.model === SCRIPTED)
      out.note(unscriptedNote(spawned.name, playbookFile(SCRIPTED, io.program, io.cwd)));
    if (isInterrupted)
      out.note(
        line`Interrupted after ${spawned.name} was ready, so it keeps running. To end it: teams kill ${memberWord(open.ref, spawned.name, io.env)}`,
      );
    await Promise.all(background);
    return isInterrupted ? EXIT.interrupted : EXIT.done;
  },
});

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

/** Returns the directory for the recordings of a teammate's screen. */
function recordingOf(rec: string | true | undefined, open: OpenTeam, cwd: string): string | undefined {
  const directory = recOption(rec, cwd);
  return directory === true ? castsDirectory(open.home.root, open.config.leadSessionId) : directory;
}

function worktreeOption({
  worktree,
  withChanges,
}: {
  readonly worktree: string | true | undefined;
  readonly withChanges: boolean;
}): WorktreeOptions | undefined {
  if (worktree === undefined) return undefined;
  return { ...(worktree === true ? {} : { branch: worktree }), withChanges };
}

/** Explains why `--here` did not open the pane next to the caller's. */
function elsewhereNote(why: NotHereReason, { columns, rows }: Settings["teams"]["minPane"]): string {
  const reasons: Readonly<Record<NotHereReason, string>> = {
    "no pane": "the caller has no pane on this tmux server",
    floating: "this pane floats, and no pane can be next to it",
    zoomed: "a pane of this window is zoomed, and a split would end the zoom",
    "no room": `there is no room to the right of this pane (both need ${2 * columns} columns, each teammate needs ${rows} lines)`,
  };
  return `Its pane is in the team's own window: ${reasons[why]}.`;
}

/** Explains what a teammate without a model does: it plays the part of its name in the built-in playbook, if there is one. */
/** Returns the model. A playbook in the directory need not be in a new worktree of it, so its path becomes absolute there. */
function modelIn(
  { model, worktree }: { readonly model: string | undefined; readonly worktree: string | true | undefined },
  program: readonly string[],
  directory: string,
): string | undefined {
  const isFile = model !== undefined && isScripted(model) && model !== SCRIPTED;
  return isFile && worktree !== undefined ? `${SCRIPTED}:${playbookFile(model, program, directory)}` : model;
}

function unscriptedNote(name: string, builtIn: string): string {
  const { agents } = loadPlaybook(builtIn);
  const plays = agents[name] ?? agents["*"];
  return plays === undefined
    ? line`No model is set up, and no playbook has a part for ${name}: it will not answer. Set ANTHROPIC_API_KEY, or use --model scripted:<file>.`
    : line`No model is set up: ${name} plays the built-in audit.`;
}

function placementOf(options: {
  readonly here: boolean;
  readonly window: boolean;
  readonly session: boolean;
}): NonNullable<SpawnOptions["placement"]> {
  const { here, window, session } = options;
  if ([here, window, session].filter(Boolean).length > 1) {
    throw new TeamError(
      "INVALID_INPUT",
      "--here, --window and --session exclude each other; no teammate was started.",
      {
        hint: "Use one of them.",
      },
    );
  }
  return here ? "here" : window ? "window" : session ? "session" : "team-window";
}
