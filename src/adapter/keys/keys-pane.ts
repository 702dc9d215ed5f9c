import { after, pause, steadyNow } from "../../os/clock.ts";
import type { PlaceRecord } from "../../schema/status.ts";
import { shortened } from "../../text/characters/cut-text.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import type { ChannelEvents } from "../channel.ts";
import { cleaned } from "../reported-values.ts";
import { KeysInput, type KeysProgram } from "./keys-input.ts";
import { PaneOutput } from "./pane-output.ts";
import { type OutputSignals, Signals } from "./signals.ts";

interface KeysPaneOptions {
  readonly server: TmuxServer;
  readonly place: PlaceRecord;
  readonly program: Omit<KeysProgram, "bracketedPaste">;
  readonly lock: string;
  /** Path of the FIFO into which a recorder copies the output. */
  readonly copy?: string;
  readonly directory: string;
  /** Path of the tmux program. */
  readonly tmux: string;
  readonly prompt: string | undefined;
  readonly events: ChannelEvents;
}

/** Milliseconds without output after which a program that edits its input, or reads lines, can take its first message. */
const QUIET_MS = { editor: 400, lines: 2_500 };
/** Milliseconds after which the first message is typed anyway: the program may draw without a pause. */
const READY_MS = 20_000;
const POLL_MS = 100;
/** Milliseconds in which several alerts count as one. */
const ALERTS_MS = 1_000;
/** Time limit in milliseconds for a program's last turn; an alert ends the turn earlier. */
const LAST_TURN_MS = 10_000;
const MAX_ALERT = 200;

/** The pane of a program that gets its messages by keyboard: its input, and the signals in its output. */
export class KeysPane {
  readonly #options: KeysPaneOptions;
  readonly #signals = new Signals();
  readonly #output: PaneOutput;
  readonly #input: KeysInput;
  #bracketedPaste: boolean | undefined;
  /** When the program last printed something, in milliseconds of the steady clock. */
  #printedAt: number | undefined;
  /** The newest alert during the pause between two reports; undefined if there is none. */
  #waiting: string | undefined;
  #isPausing = false;
  #onAlert: (() => void) | undefined;
  #wasTaken = false;

  constructor(options: KeysPaneOptions) {
    const { program, events } = options;
    this.#options = options;
    this.#output = new PaneOutput(options, (bytes) => {
      this.#printedAt = steadyNow();
      this.#hear(this.#signals.feed(bytes, this.#printedAt));
    });
    const bracketedPasteOf = (): boolean | undefined => this.#bracketedPaste;
    this.#input = new KeysInput({
      ...options,
      program: {
        ...program,
        get bracketedPaste() {
          return bracketedPasteOf();
        },
      },
      onBlocked: (dialog) => events.blocked(dialog),
      note: (text) => events.note(text),
    });
  }

  /**
   * Opens a pipe to the pane's output. A pane has only one pipe: while a person uses it, bells are missed.
   * @throws TeamError TMUX_ERROR
   */
  async listen(): Promise<void> {
    const opened = await this.#output.open();
    if (opened === "taken" && !this.#wasTaken)
      this.#options.events.note(
        "the pane already has a pipe (pipe-pane), so teams cannot see the program's bells",
      );
    this.#wasTaken = opened === "taken";
  }

  /** Whether the pipe of its output has ended: the pane is gone, or a person has opened another pipe. */
  get hasLostOutput(): boolean {
    return this.#output.hasEnded;
  }

  /**
   * Waits until the program can take its first message: programs often drop earlier text. Returns early if the program ends or the signal
   * aborts.
   */
  async ready(signal: AbortSignal): Promise<void> {
    const since = steadyNow();
    for (;;) {
      const now = steadyNow();
      if (signal.aborted || this.#options.program.hasEnded() || now - since > READY_MS) return;
      const editsSince = this.#input.editsSince;
      const quietMs = editsSince === undefined ? QUIET_MS.lines : QUIET_MS.editor;
      // Some programs drop text that was typed before they began to edit their input.
      if (this.#printedAt !== undefined && now - Math.max(this.#printedAt, editsSince ?? 0) > quietMs) return;
      await pause(POLL_MS, signal);
    }
  }

  /** Types a message and reports the end of its turn. @throws Error if nothing was typed */
  async deliver(text: string, isLast: boolean, signal: AbortSignal): Promise<void> {
    const { events } = this.#options;
    await this.listen();
    this.#waiting = undefined;
    await this.#input.deliver(text, signal);
    if (!isLast) events.turnEnded({ outcome: "completed", text: "" });
    else void this.#untilAlert(signal).then(() => events.turnEnded({ outcome: "completed", text: "" }));
  }

  async #untilAlert(signal: AbortSignal): Promise<void> {
    const alerted = new AbortController();
    this.#onAlert = () => alerted.abort();
    await pause(LAST_TURN_MS, AbortSignal.any([alerted.signal, signal]));
    this.#onAlert = undefined;
  }

  /** Presses a key. @throws Error if the key cannot be pressed now */
  press(key: string): Promise<void> {
    return this.#input.press(key);
  }

  #hear({ alert, bracketedPaste }: OutputSignals): void {
    if (bracketedPaste !== undefined) this.#bracketedPaste = bracketedPaste;
    if (alert === undefined) return;
    this.#onAlert?.();
    const text = shortened(cleaned(alert), MAX_ALERT);
    if (this.#isPausing) {
      // A notification has a text, unlike a bell.
      this.#waiting = text === "" ? (this.#waiting ?? text) : text;
      return;
    }
    this.#report(text);
  }

  /** Reports an alert. Further alerts during a pause are reported as one after it. */
  #report(text: string): void {
    this.#isPausing = true;
    this.#waiting = undefined;
    this.#options.events.alerted(text);
    after(ALERTS_MS, () => {
      this.#isPausing = false;
      const waiting = this.#waiting;
      if (waiting !== undefined) this.#report(waiting);
    });
  }

  /** Closes the pipe. @throws TeamError TMUX_ERROR */
  close(): Promise<void> {
    return this.#output.close();
  }
}
