import { StringDecoder } from "node:string_decoder";
import type { ReadStream } from "node:tty";
import { after } from "../../os/clock.ts";
import { keyDecoder, type Pressed } from "../../terminal/input/key-decoder.ts";
import type { Io } from "../../terminal/io.ts";
import { wantsColors } from "../../terminal/output.ts";
import { styler } from "../../text/style.ts";
import { type Choice, type ListState, listRows, scrolled, step } from "./pick-list.ts";

/** Milliseconds to wait for the rest of a key sequence. */
const ESCAPE_MS = 50;
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const ERASE_ROW = "\x1b[K";

/**
 * Lets a person pick from a list below the cursor; the list disappears afterwards. It is drawn on stderr: stdout is for the command.
 * @returns the index of the choice; undefined if the person cancels, null if stdin is not a terminal
 */
export async function pickOnTerminal(
  io: Pick<Io, "err" | "env" | "terminal">,
  title: string,
  choices: readonly Choice[],
): Promise<number | undefined | null> {
  const { stdin } = process;
  if (!stdin.isTTY) return null;
  const styleText = styler(!wantsColors(io.env, io.terminal.stderr));
  const size = () => ({ width: process.stderr.columns || 80, height: process.stderr.rows || 24 });
  let state: ListState = { at: 0, top: 0 };
  let drawn = 0;
  // Row by row: tmux puts the rows into its history if the whole screen is erased at once.
  const replace = (rows: readonly string[]): void => {
    const blank = Array.from({ length: Math.max(0, drawn - rows.length) }, () => "");
    const all = [...rows, ...blank].map((row) => `${ERASE_ROW}${row}`);
    const back = up(Math.min(blank.length, all.length - 1));
    io.err(`${HIDE_CURSOR}\r${up(drawn - 1)}${all.join("\r\n")}${back}`);
    drawn = rows.length;
  };
  const draw = (): void => {
    state = scrolled(state, choices.length, size());
    replace(listRows(title, choices, state, size(), styleText));
  };
  const leave = (): void => {
    replace([]);
    io.err(`\r${SHOW_CURSOR}`);
    (stdin as ReadStream).setRawMode(false);
  };
  (stdin as ReadStream).setRawMode(true);
  process.once("exit", leave);
  process.stderr.on("resize", draw);
  draw();
  try {
    return await pickedByKeys(stdin, (key) => {
      const next = step(state, key, choices.length);
      if (!("state" in next)) return next;
      state = next.state;
      draw();
      return undefined;
    });
  } finally {
    process.off("exit", leave);
    process.stderr.off("resize", draw);
    stdin.pause();
    leave();
  }
}

function up(rows: number): string {
  return rows > 0 ? `\x1b[${rows}A` : "";
}

type End = { readonly picked: number } | { readonly cancelled: true };

/** Reads keys until one ends the list, or until the terminal closes. */
function pickedByKeys(
  stdin: NodeJS.ReadStream,
  take: (key: Pressed) => End | undefined,
): Promise<number | undefined> {
  const [bytes, keys] = [new StringDecoder("utf8"), keyDecoder()];
  return new Promise((resolve) => {
    let cancelSettle = (): void => undefined;
    const finish = (end: End): void => {
      cancelSettle();
      stdin.off("data", onData);
      stdin.off("end", onEnd);
      stdin.off("error", onEnd);
      resolve("picked" in end ? end.picked : undefined);
    };
    const all = (pressed: readonly Pressed[]): void => {
      for (const key of pressed) {
        const end = take(key);
        if (end === undefined) continue;
        finish(end);
        return;
      }
    };
    const onData = (chunk: Buffer): void => {
      cancelSettle();
      all(keys.push(bytes.write(chunk)));
      if (keys.isPending) cancelSettle = after(ESCAPE_MS, () => all(keys.settle()));
    };
    const onEnd = (): void => finish({ cancelled: true });
    stdin.on("data", onData);
    stdin.on("end", onEnd);
    // A closed terminal is reported by SIGHUP too.
    stdin.on("error", onEnd);
    stdin.resume();
  });
}
