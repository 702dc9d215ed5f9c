import { StringDecoder } from "node:string_decoder";
import type { ReadStream } from "node:tty";
import { after } from "../../os/clock.ts";
import { signalProcess } from "../../os/process/process-table.ts";
import { BRACKETED_PASTE_OFF, BRACKETED_PASTE_ON } from "../../text/extended-keys.ts";
import type { PaneKey, ViewKey } from "./key-decoder.ts";
import { type EditorHelpers, type LineEditor, MAX_LINE } from "./line-editor.ts";
import type { Typed } from "./typed.ts";

/** Milliseconds in which Ctrl-Z stops a process that can be stopped. */
const STOP_MS = 50;

const TOO_LONG = `A line can have at most ${MAX_LINE.toLocaleString("en-US")} characters; the rest is ignored. \
To discard the line, press Ctrl-C; to send a longer text, use a file: teams send <name> - < file`;

/** The terminal that shows the typed line. */
export interface InputTerminal {
  readonly editor: LineEditor;
  /** Sends a control sequence to the terminal. */
  control(sequence: string): void;
  /** Shows the input line while it takes keys. */
  openInput(): void;
  closeInput(): void;
  /** Draws the input line after a change. */
  changed(): void;
  /** Leaves the terminal to another program, until {@link resume}. */
  pause(): void;
  resume(): void;
}

export interface TypingHandlers extends EditorHelpers {
  /**
   * A line that is not empty.
   * @param begun when its first character came, in milliseconds of the steady clock; when it ended, if its start is not known
   * @param earliest the earliest time at which it may have been begun, if its start is not known
   */
  line(line: string, begun: number, earliest?: number): Promise<void>;
  /** Called for Esc. */
  escape(): void;
  /** Called for Shift+Tab. */
  shiftTab?(): void;
  problem(error: unknown): void;
  /** Called for Enter in an empty line. */
  blank?(): void;
  /** Called for a key that answers a question. */
  answer?(char: string): void;
  /** Called for a key of the pane. */
  pane?(key: PaneKey): void;
  /** Called for a key that selects a view. */
  key?(key: ViewKey): void;
  /** Called for Ctrl-D in an empty line. */
  end?(): void;
  /** Called for Ctrl-C. @param dropped whether it discarded typed text @returns whether to send SIGINT, as a terminal does */
  mayInterrupt?(dropped: boolean): boolean;
  /** Called before the terminal is restored for a typed signal. */
  signal?(): void;
}

/**
 * Reads lines and keys that a person types into this process's terminal. The terminal stays in raw mode until reading
 * ends. Reads nothing if stdin is not a terminal.
 * @returns a function that ends reading and restores the terminal
 */
export function readTypedLines(terminal: InputTerminal, handlers: TypingHandlers): () => void {
  const { stdin } = process;
  const { editor } = terminal;
  if (!stdin.isTTY) return () => undefined;
  const decoder = new StringDecoder("utf8");
  let cancelSettle = (): void => undefined;
  let cancelRetake = (): void => undefined;
  const raw = (on: boolean): void => void (stdin as ReadStream).setRawMode(on);
  const entered = (line: string, begun: number): void => {
    if (line.trim() === "") handlers.blank?.();
    else handlers.line(line, begun).catch(handlers.problem);
  };
  const dispatch = (one: Typed): void => {
    switch (one.kind) {
      case "changed":
        terminal.changed();
        break;
      case "answer":
        handlers.answer?.(one.char);
        break;
      case "pane":
        handlers.pane?.(one.key);
        break;
      case "line":
        entered(one.line, one.begun);
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
    for (const one of typed) dispatch(one);
  };
  const pressed = ({ signal, dropped }: Extract<Typed, { kind: "signal" }>): void => {
    if (signal === "SIGINT" && handlers.mayInterrupt?.(dropped) === false) return;
    handlers.signal?.();
    // Restores the terminal for the shell. A process that survives the signal takes it again.
    leaveTerminal();
    // As a terminal does: to the whole foreground process group.
    signalProcess(0, signal);
    if (signal !== "SIGTSTP") takeTerminal();
    // The system ignores SIGTSTP if no shell could resume this process: take the terminal again after a while.
    else cancelRetake = after(STOP_MS, takeTerminal);
  };
  // Another program may have changed the terminal's modes meanwhile.
  const takeTerminal = (): void => {
    raw(true);
    terminal.control(BRACKETED_PASTE_ON);
    terminal.resume();
  };
  const restoreTerminal = (): void => {
    terminal.control(BRACKETED_PASTE_OFF);
    raw(false);
  };
  const leaveTerminal = (): void => {
    terminal.pause();
    restoreTerminal();
  };
  const onData = (bytes: Buffer): void => {
    cancelSettle();
    take(editor.push(decoder.write(bytes)));
    const { settleMs } = editor;
    if (settleMs !== undefined) cancelSettle = after(settleMs, () => take(editor.settle()));
  };
  // A closed terminal is reported by SIGHUP.
  stdin.on("error", () => undefined);
  stdin.on("data", onData);
  // An earlier reader of a line has left stdin paused.
  stdin.resume();
  const resized = (): void => terminal.changed();
  process.stdout.on("resize", resized);
  process.on("SIGCONT", takeTerminal);
  process.on("exit", leaveTerminal);
  editor.connect({ ...handlers, changed: () => terminal.changed() });
  terminal.openInput();
  takeTerminal();
  return () => {
    cancelSettle();
    cancelRetake();
    editor.clear();
    terminal.closeInput();
    restoreTerminal();
    process.stdout.off("resize", resized);
    process.off("exit", leaveTerminal);
    process.off("SIGCONT", takeTerminal);
    stdin.off("data", onData);
    stdin.pause();
  };
}
