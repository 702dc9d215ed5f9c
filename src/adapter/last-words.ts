import { pause } from "../os/clock.ts";
import type { PipedProgram } from "../os/process/piped-program.ts";
import { MAX_IDLE_RESULT } from "../protocol/messages.ts";
import { cutText } from "../text/characters/cut-text.ts";
import { stripControls } from "../text/terminal-text.ts";
import { cleaned } from "./reported-values.ts";

/** Maximum number of words that an error repeats from a program's stderr. */
const MAX_WORDS = 60;
/** Maximum wait in milliseconds for the exit of a program that has lost its connection or its screen. */
const SAME_END_MS = 300;
/** The same at a start, which may take long anyway: on a busy machine, the exit is reported later than the lost connection. */
const START_END_MS = 10_000;

/** Waits briefly for the exit of a program that has lost its connection or its screen: the exit explains more. */
export async function waitForEnd(ended: Promise<unknown> | undefined, signal: AbortSignal): Promise<void> {
  await Promise.race([ended, pause(SAME_END_MS, signal)]);
}

/** Returns how a program that has lost its connection at its start ended; undefined if it still runs some seconds later. */
export async function exitOf(ended: Promise<string>, signal: AbortSignal): Promise<string | undefined> {
  return Promise.race([ended, pause(START_END_MS, signal).then(() => undefined)]);
}

/**
 * Returns the last text of a turn without control characters. A very long text is cut, and names the file with the whole text.
 * @param transcript the CLI's own file of the conversation
 */
export function lastWordsIn(text: string, transcript: unknown): string {
  const rest = typeof transcript === "string" ? `. All of it is in ${cleaned(transcript)}` : "";
  return cutText(stripControls(text).trim(), MAX_IDLE_RESULT, (missing) => `\n… (${missing}${rest})`);
}

/** Returns the end of a program's stderr, as the end of a sentence. */
export function lastWords(program: PipedProgram): string {
  const words = cleaned(program.errors()).split(" ").slice(-MAX_WORDS).join(" ");
  return words === "" ? "." : `. Its last words: ${words}`;
}
