import { TEAMMATE_MODES } from "../../backend/choose-backend.ts";
import { PERMISSION_MODES } from "../../schema/permission-modes.ts";
import type { Call } from "../../terminal/call.ts";
import { BUDGET_OPTIONS, BYPASS_SWITCH, REC_OPTION } from "../option-values.ts";
import { TOOL_OPTIONS } from "../tool-options.ts";

export const ARGS = [
  {
    name: "goal",
    summary: "what the team should do; - reads it from stdin (default: you type it)",
    optional: true,
    many: true,
  },
] as const;

export const OPTIONS = {
  model: {
    value: "model",
    summary:
      "the lead's model: haiku, sonnet (the default with a key), opus, scripted[:file] (the default without a key) or any id",
  },
  cli: { value: "name", summary: "a third-party CLI that leads: codex, gemini, …" },
  effort: {
    value: "level",
    summary: "with --cli: how hard its model thinks: low, medium, high, … (default: the CLI's)",
  },
  acp: { summary: "with --cli: run it over the Agent Client Protocol, without its own screen" },
  native: { summary: "with --cli gemini: show its own screen" },
  playbook: { value: "file", summary: "play a playbook instead of calling a model" },
  record: { value: "file", summary: "record what the agents do, as a playbook for --playbook" },
  rec: REC_OPTION,
  teammateMode: {
    value: "mode",
    summary: "where teammates live (default: teammateMode of the settings, else auto)",
    choices: TEAMMATE_MODES,
  },
  permissionMode: {
    value: "mode",
    summary:
      "what agents may do without asking (default: permissions.defaultMode of the settings, else default)",
    choices: PERMISSION_MODES,
    shorthand: BYPASS_SWITCH,
  },
  ...TOOL_OPTIONS,
  delegate: { summary: "the lead only coordinates; --permission-mode applies to its teammates" },
  systemPrompt: { value: "text", summary: "the lead's system prompt, instead of the default" },
  appendSystemPrompt: { value: "text", summary: "text to add at the end of the lead's system prompt" },
  once: {
    short: "p",
    summary:
      "end when the goal is reached (default without a terminal, and with --detach, --quiet, --json or the built-in audit)",
  },
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
  keep: { summary: "keep the team's files even when its work is done" },
  rm: { summary: "delete the team when the run ends, even with unfinished work" },
  report: { value: "file", summary: "where the built-in audit writes its report (default: AUDIT.md)" },
} as const;

export type RunCall = Call<typeof ARGS, typeof OPTIONS>;

/** The parts of a command that an error about its command line names. */
export const RUN = { name: "run", args: ARGS } as const;
