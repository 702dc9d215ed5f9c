import { StringDecoder } from "node:string_decoder";
import type { ReadStream } from "node:tty";
import { after } from "../os/clock.ts";
import { signalProcess } from "../os/process/process-table.ts";
import {
  type LineEditor,
  lineEditor,
  MAX_LINE,
  PASTES_OFF,
  PASTES_ON,
  type Typed,
  type ViewKey,
} from "./line-editor.ts";

/** Milliseconds in which the rest of a key's name follows its escape; a person presses no second key so soon. */
const ESCAPE_MS = 50;
/** Milliseconds in which a Ctrl-Z stops a program that can be stopped. */
const STOP_MS = 50;

const TOO_LONG = `A line holds ${MAX_LINE.toLocaleString("en-US")} characters at most; the rest is not taken. \
Ctrl-C drops it; a longer text comes from a file: teams send <name> - < file`;

export interface TypingHandlers {
  /** A line that is not empty. */
  line(line: string): Promise<void>;
  /** Esc was pressed. */
  escape(): void;
  /** Shift+Tab was. */
  shiftTab?(): void;
  problem(error: unknown): void;
  /** Enter was pressed where nothing was typed. */
  blank?(): void;
  /** One of the keys that choose what is looked at. */
  key?(key: ViewKey): void;
  /** Ctrl-D was pressed where nothing was typed. */
  end?(): void;
  /** Ctrl-C was pressed, which has dropped what was typed. @returns whether it is to be the signal that it is in any terminal */
  mayInterrupt?(dropped: boolean): boolean;
  /** The terminal is about to be given back, for a signal that was typed. */
  signal?(): void;
}

/**
 * Hands on each line that a person types into this process's terminal, and the escape key as it is pressed. The terminal
 * hands on every key for that, and is set back at the end. Without a terminal nothing is read: what stdin holds then is
 * nobody's typing.
 * @param write shows what is typed, and gives the terminal its orders
 * @param editor holds the line that is typed
 * @returns ends the reading
 */
export function readTypedLines(
  write: (text: string) => void,
  handlers: TypingHandlers,
  editor: LineEditor = lineEditor(),
): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const decoder = new StringDecoder("utf8");
  let forget = (): void => undefined;
  let forgetStop = (): void => undefined;
  const raw = (on: boolean): void => void (stdin as ReadStream).setRawMode(on);
  const taken = (line: string): void => {
    if (line.trim() === "") handlers.blank?.();
    else handlers.line(line).catch(handlers.problem);
  };
  const hand = (one: Typed): void => {
    switch (one.kind) {
      case "echo":
        write(one.text);
        break;
      case "line":
        taken(one.line);
        break;
      case "full":
        handlers.problem(new Error(TOO_LONG));
        break;
      case "escape":
        handlers.escape();
        break;
      case "shift-tab":
        handlers.shiftTab?.();
        break;
      case "key":
        handlers.key?.(one.key);
        break;
      case "end":
        handlers.end?.();
        break;
      case "signal":
        pressed(one);
        break;
    }
  };
  const take = (typed: readonly Typed[]): void => {
    for (const one of typed) hand(one);
  };
  const pressed = ({ signal, dropped }: Extract<Typed, { kind: "signal" }>): void => {
    if (signal === "SIGINT" && handlers.mayInterrupt?.(dropped) === false) return;
    handlers.signal?.();
    // Whoever is before us at the terminal finds it as it was; a signal that does not end us leaves us at it.
    giveTerminal();
    // As the terminal does it: to all that it has in front.
    signalProcess(0, signal);
    if (signal !== "SIGTSTP") takeTerminal();
    // Where no shell could let it go on, the system stops nobody.
    else forgetStop = after(STOP_MS, takeTerminal);
  };
  // Whoever had it meanwhile knows nothing of our keys and pastes.
  const takeTerminal = (): void => {
    raw(true);
    write(PASTES_ON);
  };
  const giveTerminal = (): void => {
    write(PASTES_OFF);
    raw(false);
  };
  const onData = (bytes: Buffer): void => {
    forget();
    take(editor.push(decoder.write(bytes)));
    if (editor.isPending) forget = after(ESCAPE_MS, () => take(editor.settle()));
  };
  // A terminal that went away: its hangup comes as a signal.
  stdin.on("error", () => undefined);
  stdin.on("data", onData);
  // Who has read a line before us has left it paused.
  stdin.resume();
  process.on("SIGCONT", takeTerminal);
  process.on("exit", giveTerminal);
  takeTerminal();
  return () => {
    forget();
    forgetStop();
    take(editor.clear());
    giveTerminal();
    process.off("exit", giveTerminal);
    process.off("SIGCONT", takeTerminal);
    stdin.off("data", onData);
    stdin.pause();
  };
}
