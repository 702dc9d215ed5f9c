import type { AnyCall } from "../terminal/call.ts";
import type { Io } from "../terminal/io.ts";
import { brokenRows } from "../text/word-wrap.ts";

/** Rows of the screen that a question takes. */
const QUESTION_ROWS = 2;

/** Whether a person can be asked. */
export function canAsk({ io, out, options }: AnyCall): boolean {
  return io.terminal.stdin && io.terminal.stdout && !out.json && !options.quiet;
}

/**
 * Shows lines in pages that fit into the terminal, and asks below the last page.
 * @param lines safe to print
 * @returns the answer; undefined at the input's end
 */
export async function pagedAnswer(
  io: Io,
  lines: readonly string[],
  question: string,
): Promise<string | undefined> {
  const { columns = Number.POSITIVE_INFINITY, rows = Number.POSITIVE_INFINITY } = io;
  const all = lines.flatMap((row) => brokenRows(row, columns));
  const size = Math.max(1, rows - QUESTION_ROWS);
  for (let from = 0; ; from += size) {
    io.out(`${all.slice(from, from + size).join("\n")}\n`);
    const left = all.length - from - size;
    // Keys that were typed before do not answer the page that is shown now.
    await io.dropTyped();
    io.out(left > 0 ? `${left} more lines: Enter shows the next ones, n refuses. ` : question);
    const answer = await io.readLine();
    if (left <= 0 || answer === undefined || /^(no?|q)$/i.test(answer.trim())) return answer;
  }
}

/** Whether an answer agrees: only a typed y or yes does. */
export function isYes(answer: string | undefined): boolean {
  return /^y(es)?$/i.test(answer?.trim() ?? "");
}
