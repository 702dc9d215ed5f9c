import { serverAt } from "../../backend/tmux/server-for.ts";
import { after, pause, steadyNow } from "../../os/clock.ts";
import { collectsLines } from "../../os/process/terminal-modes.ts";
import type { Screen } from "../../tmux/screen.ts";
import type { ChannelEvents, ChannelSetup } from "../channel.ts";
import { withoutFileMarks } from "../gemini-texts.ts";
import type { InputShown } from "../keys/input-line.ts";
import { isInForeground } from "../keys/keyboard.ts";
import { KeysInput } from "../keys/keys-input.ts";
import { isGeminiWorking, readGeminiInput } from "./gemini-screen.ts";

/** Milliseconds between two reads of the screen. */
const POLL_MS = 250;
/**
 * Milliseconds that the screen must show the input before the first text, and after each dialog: Gemini shows it for a moment before it
 * asks for a login.
 */
const STEADY_MS = 1_000;
/** The same if Gemini may look for its key in a keychain, which takes longer. */
const STEADY_WITH_KEYCHAIN_MS = 4_000;
/** Milliseconds after which a submitted text that Gemini neither shows nor works on counts as dropped. */
const DROPPED_MS = 5_000;
/** Milliseconds until the person is asked about a text that Gemini has not taken. */
const TAKE_MS = 10_000;

const STARTING: InputShown = { kind: "closed", why: "it is starting", remedy: "wait", isQuiet: true };
const BUSY: InputShown = { kind: "closed", why: "it is working", remedy: "wait", isQuiet: true };
const SILENT = {
  name: "Gemini takes no messages",
  remedy: "close the dialog in its pane, or clear its input line",
};

interface GeminiInputOptions {
  readonly setup: ChannelSetup;
  readonly events: ChannelEvents;
  readonly program: { readonly pid: number | undefined; hasEnded(): boolean };
  /** Whether Gemini may look for its key in a keychain. */
  readonly usesKeychain: boolean;
  /** Whether a turn is running: at its end, a hook passes on the text. */
  readonly isBusy: () => boolean;
}

/** The input of an idle Gemini: a guarded paste starts its next turn. */
export class GeminiInput {
  readonly #keys: KeysInput | undefined;
  readonly #events: ChannelEvents;
  readonly #usesKeychain: boolean;
  readonly #isBusy: () => boolean;
  #isSteady = false;
  #hasBeenSteady = false;
  #shownSince: number | undefined;
  #isTaken: () => boolean = () => false;

  constructor({ setup, events, program, usesKeychain, isBusy }: GeminiInputOptions) {
    const { place, env, typing, directory } = setup;
    this.#events = events;
    this.#usesKeychain = usesKeychain;
    this.#isBusy = isBusy;
    if (place?.server === undefined) return;
    this.#keys = new KeysInput({
      server: serverAt(place.server, env),
      place,
      program: {
        hasEnded: () => program.hasEnded(),
        isInForeground: () => isInForeground(program.pid),
        collectsLines: () => collectsLines(),
        // Gemini enables bracketed paste at its start.
        bracketedPaste: true,
      },
      lock: typing,
      directory,
      readInput: (screen, text) => this.#read(screen, text),
      onBlocked: (dialog) => events.blocked(dialog),
      note: (text) => {
        if (!this.#isTaken()) events.note(text);
      },
    });
  }

  /** Handles the start of a session: Gemini may have restarted itself, and may ask for a login. */
  restarted(): void {
    this.#isSteady = false;
    this.#hasBeenSteady = false;
    this.#shownSince = undefined;
  }

  /** Waits until the screen has shown the input, empty or not, for some time. Returns early if the signal aborts. */
  async shown(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const screen = await this.#keys?.screen();
      if (screen !== undefined && this.#read(screen).kind !== "closed") return;
      await pause(POLL_MS, signal);
    }
  }

  /**
   * Types a text and presses Enter, until Gemini has taken it. A person, or Gemini itself, may drop a text or the key.
   * @throws Error if the signal has aborted, or Gemini has ended
   */
  async deliver(text: string, signal: AbortSignal, isTaken: () => boolean): Promise<void> {
    this.#isTaken = isTaken;
    do await this.#keys?.deliver(text, signal);
    while ((await this.#confirm(text, signal)) === "dropped");
  }

  async #confirm(text: string, signal: AbortSignal): Promise<"taken" | "dropped"> {
    let isBlocked = false;
    const stop = after(TAKE_MS, () => {
      isBlocked = true;
      this.#events.blocked(SILENT);
    });
    try {
      for (let emptySince: number | undefined; ; ) {
        await pause(POLL_MS, signal);
        if (signal.aborted || this.#isTaken()) return "taken";
        const screen = await this.#keys?.screen();
        if (screen === undefined) continue;
        const { kind } = this.#read(screen, text);
        // Soon after a paste, Gemini takes Enter as a new line, so a busy Gemini may not have submitted the text.
        if (kind === "typed") await this.#keys?.submitAgain(text);
        if (kind !== "empty" || isGeminiWorking(screen)) emptySince = undefined;
        else emptySince ??= steadyNow();
        if (emptySince === undefined || steadyNow() - emptySince < DROPPED_MS) continue;
        this.#events.note("a message left the input line without starting a turn, so it is typed again");
        return "dropped";
      }
    } finally {
      stop();
      if (isBlocked) this.#events.blocked(undefined);
    }
  }

  #read(screen: Screen, text?: string): InputShown {
    if (this.#isBusy()) return BUSY;
    const shown = readGeminiInput(screen, text);
    if (shown.kind === "closed") {
      this.#isSteady = false;
      this.#shownSince = undefined;
      return shown;
    }
    if (this.#isSteady) return shown;
    this.#shownSince ??= steadyNow();
    const isFirst = !this.#hasBeenSteady && this.#usesKeychain;
    if (steadyNow() - this.#shownSince < (isFirst ? STEADY_WITH_KEYCHAIN_MS : STEADY_MS)) return STARTING;
    this.#isSteady = true;
    this.#hasBeenSteady = true;
    return shown;
  }
}

/** Returns a text that Gemini takes as a prompt: a leading /, ! or ? would start a command or its shell mode. */
export function asPrompt(text: string): string {
  const plain = withoutFileMarks(/^\s*[/!?]/.test(text) ? `Message from teams:\n${text}` : text);
  // After a backslash, Gemini reads Enter as a new line.
  return plain.endsWith("\\") ? `${plain} ` : plain;
}
