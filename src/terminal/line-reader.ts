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

/** Milliseconds to wait for the rest of a key sequence; a person presses no second key so soon. */
const ESCAPE_MS = 50;
/** Milliseconds in which Ctrl-Z stops a process that can be stopped. */
const STOP_MS = 50;

const TOO_LONG = `A line can have at most ${MAX_LINE.toLocaleString("en-US")} characters; the rest is ignored. \
To discard the line, press Ctrl-C; to send a longer text, use a file: teams send <name> - < file`;

export interface TypingHandlers {
  /** A line that is not empty. */
  line(line: string): Promise<void>;
  /** Called for Esc. */
  escape(): void;
  /** Called for Shift+Tab. */
  shiftTab?(): void;
  problem(error: unknown): void;
  /** Called for Enter in an empty line. */
  blank?(): void;
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
 * Reads lines and keys that a person types into this process's terminal. The terminal is in raw mode until the end of the
 * reading. Reads nothing if stdin is not a terminal.
 * @param write writes echoed text and control sequences to the terminal
 * @param editor holds the typed line
 * @returns ends the reading and restores the terminal
 */
export function readTypedLines(
  write: (text: string) => void,
  handlers: TypingHandlers,
  editor: LineEditor = lineEditor(),
): () => void {
  const { stdin } = process;
  if (!stdin.isTTY) return () => undefined;
  const decoder = new StringDecoder("utf8");
  let cancelSettle = (): void => undefined;
  let cancelRetake = (): void => undefined;
  const raw = (on: boolean): void => void (stdin as ReadStream).setRawMode(on);
  const entered = (line: string): void => {
    if (line.trim() === "") handlers.blank?.();
    else handlers.line(line).catch(handlers.problem);
  };
  const dispatch = (one: Typed): void => {
    switch (one.kind) {
      case "echo":
        write(one.text);
        break;
      case "line":
        entered(one.line);
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
    // The shell gets the terminal back as it was. If the signal does not end this process, it takes the terminal again.
    restoreTerminal();
    // As a terminal does: to the whole foreground process group.
    signalProcess(0, signal);
    if (signal !== "SIGTSTP") takeTerminal();
    // The system stops no process that no shell could continue.
    else cancelRetake = after(STOP_MS, takeTerminal);
  };
  // Another program may have changed the terminal's modes meanwhile.
  const takeTerminal = (): void => {
    raw(true);
    write(PASTES_ON);
  };
  const restoreTerminal = (): void => {
    write(PASTES_OFF);
    raw(false);
  };
  const onData = (bytes: Buffer): void => {
    cancelSettle();
    take(editor.push(decoder.write(bytes)));
    if (editor.isPending) cancelSettle = after(ESCAPE_MS, () => take(editor.settle()));
  };
  // A closed terminal is reported by SIGHUP.
  stdin.on("error", () => undefined);
  stdin.on("data", onData);
  // An earlier reader of a line has left stdin paused.
  stdin.resume();
  process.on("SIGCONT", takeTerminal);
  process.on("exit", restoreTerminal);
  takeTerminal();
  return () => {
    cancelSettle();
    cancelRetake();
    take(editor.clear());
    restoreTerminal();
    process.off("exit", restoreTerminal);
    process.off("SIGCONT", takeTerminal);
    stdin.off("data", onData);
    stdin.pause();
  };
}
