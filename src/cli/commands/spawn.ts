import type { NotHereReason } from "../../backend/backend.ts";
import { TEAMMATE_MODES } from "../../backend/choose-backend.ts";
import { EXIT, TeamError } from "../../errors.ts";
import type { SpawnOptions } from "../../operations/spawn/spawn.ts";
import type { WorktreeOptions } from "../../operations/worktrees/create-worktree.ts";
import { startTeammate } from "../../runtime/commands/start-teammate.ts";
import { refuseNesting } from "../../runtime/operation-context.ts";
import { openTeam } from "../../runtime/select-team.ts";
import { defined } from "../../schema/defined.ts";
import { PERMISSION_MODES, SANDBOX_MODES } from "../../schema/permission-modes.ts";
import { loadSettings } from "../../settings/settings.ts";
import type { Settings } from "../../settings/settings-schema.ts";
import { memberWord } from "../../team/address-words.ts";
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
      summary: "general-purpose (the default), Explore, Plan, reviewer, …, or a type from agents/*.md",
    },
    model: {
      value: "model",
      summary:
        "haiku, sonnet, opus, inherit, scripted[:file] or any id (default: its type's, else the lead's)",
    },
    plan: { summary: "it must get a plan approved before it acts" },
    systemPrompt: { value: "text", summary: "its system prompt, instead of its type's and the default" },
    appendSystemPrompt: { value: "text", summary: "text to add at the end of its system prompt" },
    permissionMode: {
      value: "mode",
      summary: "what it may do without asking (default: its type's, else the lead's)",
      choices: PERMISSION_MODES,
      shorthand: BYPASS_SWITCH,
    },
    ...TOOL_OPTIONS,
    cli: { value: "name", summary: "a third-party CLI to run instead of our agent: claude, codex, …" },
    effort: {
      value: "level",
      summary: "with --cli: how hard its model thinks: low, medium, high, … (default: the CLI's)",
    },
    acp: { summary: "with --cli: run it over the Agent Client Protocol, without its own screen" },
    native: { summary: "with --cli gemini: show its own screen" },
    sandbox: {
      value: "mode",
      summary: "whether its commands run in the sandbox (default: the settings, or stricter if its type is)",
      choices: SANDBOX_MODES,
    },
    cwd: { value: "directory", summary: "where it works (default: this directory)" },
    worktree: {
      value: "branch",
      valueOptional: true,
      summary: "work in its own git worktree, on this branch (default: teams/<team>/<name>)",
    },
    withChanges: { summary: "copy the uncommitted changes of this directory into its worktree" },
    teammateMode: {
      value: "mode",
      summary: "where it lives (default: teammateMode of the settings, else auto)",
      choices: TEAMMATE_MODES,
    },
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
    const prompt = await textOption(io, options.prompt, "prompt");
    const override = await textOption(io, options.systemPrompt, "system prompt");
    const append = await textOption(io, options.appendSystemPrompt, "system prompt");
    const input = defined({
      promptOverrides: defined({ override, append }),
      name: args.name,
      unique: options.unique,
      plan: options.plan,
      prompt,
      agentType: options.agentType,
      model: options.model,
      permissionMode: options.permissionMode,
      ...toolLimits(command, options),
      cwd: options.cwd,
      sandbox: options.sandbox,
      cli: cliName(command, options),
      effort: options.effort,
      metadata: metadataOption(options.metadata),
      worktree: worktreeOption(options),
      budget: limitsFromOptions(options),
    });
    const background: Promise<unknown>[] = [];
    const spawned = await startTeammate(call, open, {
      input,
      settings,
      mode: options.teammateMode,
      placement: placementOf(options),
      recording: recOption(options.rec, io.cwd),
      debug: options.debug,
      background: (work) => background.push(work),
    });
    const signal = io.interruption();
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
          ? line`Its work: teams logs ${name}`
          : line`Its pane: teams attach ${name}   its screen: teams peek ${name}`,
      ].join("\n");
    });
    if (isInterrupted)
      out.note(
        line`Interrupted after ${spawned.name} was ready, so it keeps running. To end it: teams kill ${memberWord(open.ref, spawned.name, io.env)}`,
      );
    await Promise.all(background);
    return isInterrupted ? EXIT.interrupted : EXIT.done;
  },
});

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
    floating: "this pane floats, and no pane can open next to it",
    zoomed: "a pane of this window is zoomed, and a split would end the zoom",
    "no room": `there is no room to the right of this pane (two panes need ${2 * columns} columns, each teammate needs ${rows} lines)`,
  };
  return `Its pane is in the team's own window: ${reasons[why]}.`;
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
      "--here, --window and --session are mutually exclusive; no teammate was started.",
      {
        hint: "Use one of them.",
      },
    );
  }
  return here ? "here" : window ? "window" : session ? "session" : "team-window";
}
