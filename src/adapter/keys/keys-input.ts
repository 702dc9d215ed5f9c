import { join } from "node:path";
import { TeamError } from "../../errors.ts";
import { pause, steadyNow } from "../../os/clock.ts";
import { platform } from "../../os/env.ts";
import { replaceFile } from "../../os/files/atomic-write.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { shortenedStart } from "../../text/characters/cut-text.ts";
import { stripControls } from "../../text/terminal-text.ts";
import type { Screen } from "../../tmux/screen.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import type { ChannelDialog } from "../channel.ts";
import { pressKeys } from "../native/press-keys.ts";
import { readPaneScreen, submitTyped, type TypingOutcome, typeMessage } from "../native/type-message.ts";
import { type InputShown, lineAtCursor, type ReadInput } from "./input-line.ts";
import { commandNow } from "./pane-command.ts";
import type { FoundShell } from "./shell-check.ts";

/** The program that reads the input of a pane. */
export interface KeysProgram {
  /** Whether it has ended. */
  hasEnded(): boolean;
  /** Whether the program itself is in the foreground of its terminal, and not a shell or an editor in the same pane. */
  isInForeground(): boolean;
  /** Returns the shell that would run typed text as a command; undefined if there is none. */
  readonly shell?: (() => FoundShell | undefined) | undefined;
  /** Whether its terminal collects whole lines for it; undefined if unknown. */
  collectsLines(): boolean | undefined;
  /** Whether it has enabled bracketed paste; undefined if unknown. */
  readonly bracketedPaste: boolean | undefined;
}

interface KeysInputOptions {
  readonly server: TmuxServer;
  readonly place: PlaceRecord;
  readonly program: KeysProgram;
  /** Path of the lock that allows one sender at a time. */
  readonly lock: string;
  /** A private directory for texts that are too long for one line. */
  readonly directory: string;
  /** The text of its empty input line. */
  readonly prompt?: string | undefined;
  /** Reads its input from the screen; by default, its input is the line before the cursor. */
  readonly readInput?: ReadInput;
  readonly onBlocked: (dialog: ChannelDialog | undefined) => void;
  readonly note: (text: string) => void;
}

/** Milliseconds between two attempts to type. */
const RETRY = { first: 200, growth: 1.4, max: 3_000 };
/** Milliseconds until the pane says why nothing is typed. */
const NOTIFY_MS = 2_000;
/** Maximum bytes of a line that the terminal collects: the kernel drops the rest. */
const MAX_LINE = platform === "linux" ? 4_000 : 1_000;
/** Milliseconds after which a text that was never shown counts as dropped. */
const DROPPED_MS = 5_000;

/** Why nothing can be typed now. `isQuiet`: the obstacle is temporary, so the person is not notified. */
interface Hold {
  readonly why: string;
  readonly remedy: string;
  readonly isQuiet?: boolean;
}

/**
 * Types each text once. Waits while the input contains a draft or another program is in the foreground. Presses Enter only if the input
 * still contains the text.
 */
export class KeysInput {
  readonly #options: KeysInputOptions;
  /** When the program was first seen to edit its input itself. Since then, it reads no input while its terminal collects lines. */
  #editsSince: number | undefined;
  #deliveries = 0;
  #notifiedAt: number | undefined;

  constructor(options: KeysInputOptions) {
    this.#options = options;
  }

  /** When the program was first seen to edit its own input, in milliseconds of the steady clock; undefined if never. */
  get editsSince(): number | undefined {
    if (this.#options.program.collectsLines() === false) this.#editsSince ??= steadyNow();
    return this.#editsSince;
  }

  /**
   * Types a text and presses Enter.
   * @param signal cancels the delivery, unless the text is already in the input
   * @throws Error if nothing was typed: the program has ended, or the signal has aborted
   */
  async deliver(text: string, signal: AbortSignal): Promise<void> {
    this.#deliveries += 1;
    try {
      await this.#deliver(text, signal);
    } finally {
      this.#notify(undefined);
    }
  }

  async #deliver(text: string, signal: AbortSignal): Promise<void> {
    const since = steadyNow();
    for (let wait = RETRY.first; ; wait = Math.min(wait * RETRY.growth, RETRY.max)) {
      const tried = await this.#attempt(text);
      if ("kind" in tried) {
        if (tried.kind !== "unsent" || !(await this.#submit(text, tried, signal))) return;
        continue;
      }
      if (tried.isQuiet !== true && steadyNow() - since >= NOTIFY_MS) this.#notify(tried);
      if ((await pause(wait, signal)) === "aborted")
        throw new Error("the delivery was cancelled; nothing was typed");
    }
  }

  /** Types once if that is possible now. @throws Error if the program has ended */
  async #attempt(text: string): Promise<Exclude<TypingOutcome, { kind: "held" }> | Hold> {
    const { server, place, program, lock, readInput } = this.#options;
    if (program.hasEnded()) throw new Error("it has ended; nothing was typed");
    const screen = await readPaneScreen(server, place);
    if (screen === undefined) throw new Error("its pane is gone; nothing was typed");
    // An earlier delivery of the text was cancelled before Enter. The line before a cursor would not prove that.
    if (readInput?.(screen, text).kind === "typed")
      return { kind: "unsent", why: "screen-changed", typed: screen };
    const hold = this.#hold(screen);
    if (hold !== undefined) return hold;
    const also = await commandNow(server, place);
    // Checked after commandNow(): tmux types only while the foreground command keeps that name.
    if (!program.isInForeground()) return OTHER_PROGRAM;
    const form = this.#form(text, screen);
    try {
      // Without `readInput`, only the line at the cursor is known: it does not distinguish a dialog from the end of a text.
      const mayEnter = (now: Screen): boolean =>
        readInput === undefined || ["typed", "draft"].includes(readInput(now, form.text).kind);
      const options = { idleScreen: screen, lock, lineEnds: form.lineEnds, also, mayEnter } as const;
      const outcome = await typeMessage(server, place, form.text, options);
      if (outcome.kind !== "held") return outcome;
      if (outcome.why === "gone" && program.hasEnded()) throw new Error("it has ended; nothing was typed");
      return {
        why: HELD[outcome.why] ?? "its screen is changing",
        remedy: "wait; teams tries again",
        isQuiet: outcome.why === "screen-changed",
      };
    } catch (error) {
      if (error instanceof TeamError && error.code === "LOCK_TIMEOUT")
        return { why: "another command is typing into its pane", remedy: "wait", isQuiet: true };
      throw error;
    }
  }

  #hold(screen: Screen): Hold | undefined {
    const { program } = this.#options;
    if (!program.isInForeground()) return OTHER_PROGRAM;
    const shell = program.shell?.();
    if (shell !== undefined) {
      const why = `its keys reach a shell (${shell.name}, process ${shell.pid}), which would run each message as a command`;
      return { why, remedy: "end that shell; a message is waiting" };
    }
    if (this.editsSince !== undefined && program.collectsLines() === true)
      return { why: "it is working", remedy: "wait", isQuiet: true };
    if (screen.mode !== "") return { why: "its pane is in copy mode", remedy: "press q in its pane" };
    const input = this.#read(screen);
    if (input.kind === "closed") return input;
    if (input.kind !== "draft") return undefined;
    const shown = shortenedStart(input.text, 40);
    return {
      why: `its input contains a draft, ${JSON.stringify(stripControls(shown))}`,
      remedy: "send or clear the draft; a message is waiting",
    };
  }

  /** Returns the text in the form that this program takes as one input. */
  #form(text: string, screen: Screen): { readonly text: string; readonly lineEnds: "pasted" | "joined" } {
    const { program, directory } = this.#options;
    const isPasted = program.bracketedPaste ?? screen.brackets === "on";
    if (program.collectsLines() === true && Buffer.byteLength(text) > MAX_LINE) {
      // One file for each text: the program may read the file of an earlier one later.
      const file = join(directory, `message-${this.#deliveries}.txt`);
      replaceFile(file, text, { sync: false });
      return { text: `Read the file ${file} and do what it says.`, lineEnds: "joined" };
    }
    return { text, lineEnds: isPasted ? "pasted" : "joined" };
  }

  /**
   * Presses Enter for a text in the input, once the input contains nothing else.
   * @returns true if the program has dropped the text: it was never shown, and the input is empty
   */
  async #submit(text: string, unsent: Unsent, signal: AbortSignal): Promise<boolean> {
    const { program, note } = this.#options;
    const since = steadyNow();
    let result: TypingOutcome | "taken" | "dropped" = unsent;
    for (let wait = RETRY.first; isUnsent(result); wait = Math.min(wait * RETRY.growth, RETRY.max)) {
      if (program.hasEnded() || result.why === "gone") throw new Error("it ended before Enter was pressed");
      if (steadyNow() - since >= NOTIFY_MS)
        this.#notify({
          why: "a message is in its input, but Enter was not pressed",
          remedy: "press Enter in its pane",
        });
      if ((await pause(wait, signal)) === "aborted") {
        note("a message is in the input of the program, but Enter was not pressed");
        return false;
      }
      result = await this.#enter(text, result, steadyNow() - since);
    }
    if (result === "taken")
      note("a typed message is no longer in the input, so a person submitted or deleted it");
    return result === "dropped";
  }

  /** Presses Enter if the input contains the text. @param ms milliseconds since it was typed */
  async #enter(text: string, unsent: Unsent, ms: number): Promise<TypingOutcome | "taken" | "dropped"> {
    const { server, place, program, lock } = this.#options;
    const screen = await readPaneScreen(server, place);
    if (screen === undefined) return unsent;
    const { kind } = this.#read(screen, text);
    if (kind === "empty") {
      if (unsent.why !== "unseen") return "taken";
      return ms < DROPPED_MS ? unsent : "dropped";
    }
    if (kind !== "typed") return unsent;
    const also = await commandNow(server, place);
    return program.isInForeground() ? submitTyped(server, place, screen, { lock, also }) : unsent;
  }

  /** Reads the screen; undefined if the pane is gone. */
  screen(): Promise<Screen | undefined> {
    const { server, place } = this.#options;
    return readPaneScreen(server, place);
  }

  /** Presses Enter again if the input still contains a submitted text. */
  async submitAgain(text: string): Promise<void> {
    await this.#enter(text, { kind: "unsent", why: "screen-changed" }, 0);
  }

  /** Presses the key that interrupts the program. @throws Error if it cannot be pressed now */
  async press(key: string): Promise<void> {
    const { server, place, program } = this.#options;
    const also = await commandNow(server, place);
    if (!program.isInForeground()) throw new Error(`${key} was not pressed: ${OTHER_PROGRAM.why}`);
    const pressed = await pressKeys(server, place, [key], also);
    if (pressed !== "pressed") throw new Error(`${key} was not pressed: ${HELD[pressed] ?? pressed}`);
  }

  #read(screen: Screen, text?: string): InputShown {
    const { readInput, prompt } = this.#options;
    return (readInput ?? lineAtCursor(prompt))(screen, text);
  }

  /** Notifies the person once. @param hold undefined removes the notice */
  #notify(hold: Hold | undefined): void {
    const { onBlocked } = this.#options;
    if (hold === undefined) {
      if (this.#notifiedAt !== undefined) onBlocked(undefined);
      this.#notifiedAt = undefined;
    } else if (this.#notifiedAt === undefined) {
      this.#notifiedAt = steadyNow();
      onBlocked({ name: hold.why, remedy: hold.remedy });
    }
  }
}

type Unsent = Extract<TypingOutcome, { kind: "unsent" }>;

function isUnsent(result: TypingOutcome | string): result is Unsent {
  return typeof result !== "string" && result.kind === "unsent";
}

const OTHER_PROGRAM: Hold = {
  why: "another program is in the foreground of its pane",
  remedy:
    "bring the member's program back to the front (fg, or quit the other program); a message is waiting",
};

const HELD: Readonly<Record<string, string>> = {
  gone: "its pane is closed, or shows another program",
  "other-program": OTHER_PROGRAM.why,
  "in-mode": "its pane is in copy mode",
  "input-off": "the input of its pane is off",
  synchronized: "its window passes each key to all panes (synchronize-panes)",
  unbracketed: "the program would submit each line separately",
};
