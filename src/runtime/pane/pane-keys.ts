import { join } from "node:path";
import { isSystemError, messageOf, TeamError } from "../../errors.ts";
import { permissionMode } from "../../schema/config.ts";
import { LEAD_NAME } from "../../schema/names.ts";
import type { PermissionMode } from "../../schema/permission-modes.ts";
import { readTeam } from "../../team/config/config.ts";
import { fileHistory, type History } from "../../terminal/input/history.ts";
import type { TypingHandlers } from "../../terminal/input/line-reader.ts";
import type { Completer } from "../../terminal/input/suggestions.ts";
import { modeNote } from "../../worker/view.ts";
import type { PaneLines, PaneLinesOptions } from "./pane-lines.ts";
import { paneSuggestions } from "./pane-suggestions.ts";
import { projectFiles } from "./project-files.ts";

type PaneKeys = Required<
  Pick<
    TypingHandlers,
    "answers" | "answer" | "pane" | "problem" | "line" | "escape" | "shiftTab" | "history" | "complete"
  >
>;

interface PaneKeysOptions extends PaneLinesOptions {
  /** The permission mode at the start. */
  readonly mode: PermissionMode;
  /** Applies a changed mode before the next line; omitted for an agent that gets it by a message, before the line. */
  followMode?(): void;
}

/** The modes that Shift+Tab goes through, with the mode of the start; the last one is for a lead. */
const CYCLE: readonly PermissionMode[] = ["default", "acceptEdits", "plan", "delegate"];
/** A line that is a command for the pane, unless it is the path of a file. */
const COMMAND = /^\s*[/!]/;
/** A command that later lines wait for: it decides what their turn may do. */
const CHANGES_MODE = /^\s*\/(?:mode|delegate)\b/;
/** The key that explains a permission request; it may also be typed as a line. */
const EXPLAIN = "e";

/** Returns the actions of the keys that every agent's pane has. */
export function paneKeys(options: PaneKeysOptions): PaneKeys {
  const { view, worker, ref, name, call, clear } = options;
  const problem = (error: unknown): void => view.error(messageOf(error));
  let opened: PaneLines | undefined;
  /** Loaded with the first command: most agents never get one. */
  const lines = async (): Promise<PaneLines> => {
    const { paneLines } = await import("./pane-lines.ts");
    opened ??= paneLines(options);
    return opened;
  };
  let suggestions: Completer | undefined;
  /** Returns the other members. Empty if the team cannot be read: the supervision reports that. */
  const teammates = (): readonly string[] => {
    try {
      return readTeam(ref).members.flatMap((member) => (member.name === name ? [] : [member.name]));
    } catch (error) {
      if (error instanceof TeamError || isSystemError(error)) return [];
      throw error;
    }
  };
  const openSuggestions = (): Completer => {
    const { cwd, env } = call.io;
    return paneSuggestions({ agent: name, cwd, files: projectFiles({ cwd, env, problem }), teammates });
  };
  let kept: History | undefined;
  const history = (): History => {
    kept ??= fileHistory(join(ref.home.root, "teams-history.jsonl"), problem);
    return kept;
  };
  /** Number of mode changes that the person has requested and that are not yet made. */
  let wanted = 0;
  let isChanging = false;
  const nextMode = async (): Promise<void> => {
    const usual = name === LEAD_NAME ? CYCLE : CYCLE.slice(0, -1);
    const cycle = usual.includes(options.mode) ? usual : [...usual, options.mode];
    while (wanted > 0) {
      const member = readTeam(ref).members.find((one) => one.name === name);
      const current = permissionMode.safeParse(member?.mode).data ?? "default";
      const next = cycle[(cycle.indexOf(current) + wanted) % cycle.length] ?? "default";
      wanted = 0;
      if (next === current) continue;
      // The input line shows the mode.
      view.leaveOut(modeNote(next));
      await (await lines()).teams(["mode", name, next, "--quiet"]);
    }
  };
  /** Settles when the earlier lines have begun, and each change of the mode is made. */
  let order: Promise<unknown> = Promise.resolve();
  const ignored = (): void => undefined;
  /** Starts to handle a line. @returns the promise of its end in an object, because the caller must not wait for it yet */
  const begin = async (
    ...[line, begun, earliest]: Parameters<TypingHandlers["line"]>
  ): Promise<{ readonly end: Promise<void> | undefined }> => {
    if (line.trim() === EXPLAIN && view.answers(EXPLAIN) !== undefined) {
      view.explain();
      return { end: undefined };
    }
    if (!COMMAND.test(line)) return { end: worker.handleTypedLine(line, begun, earliest) };
    const end = (await lines()).handle(line, begun);
    if (CHANGES_MODE.test(line)) await end.then(options.followMode);
    return { end };
  };
  const changeMode = async (): Promise<void> => {
    wanted += 1;
    if (isChanging) return;
    isChanging = true;
    try {
      await nextMode();
      options.followMode?.();
    } finally {
      isChanging = false;
      wanted = 0;
    }
  };
  /** Shows the newest part of the conversation on an empty screen. */
  const redraw = async (): Promise<void> => {
    const { showRecent } = await import("./recent-conversation.ts");
    clear();
    showRecent(view, ref, name);
  };
  return {
    problem,
    async line(...typed) {
      const started = order.then(() => begin(...typed));
      // The caller gets the error; the next line runs anyway.
      order = started.catch(ignored);
      const { end } = await started;
      await end;
    },
    escape() {
      if (opened?.interrupt() !== true) worker.interrupt();
    },
    shiftTab() {
      const change = changeMode().catch(problem);
      order = Promise.all([order, change]);
    },
    history: { entries: () => history().entries(), add: (line) => history().add(line) },
    complete(...of) {
      suggestions ??= openSuggestions();
      return suggestions(...of);
    },
    answers: view.answers,
    answer(char) {
      if (char === EXPLAIN) view.explain();
      else worker.handleTypedLine(char).catch(problem);
    },
    pane(key) {
      if (key === "expand") view.expand();
      else redraw().catch(problem);
    },
  };
}
