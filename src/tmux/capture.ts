import { randomUUID } from "node:crypto";
import { ifElse } from "./command.ts";
import type { PaneId } from "./ids.ts";
import { isNoServer, type TmuxServer } from "./server.ts";

/** A pane, and the condition that identifies it, as for `onlyIf`. */
interface CaptureTarget {
  readonly pane: PaneId;
  readonly condition: string;
}

/** Removes the spaces with which tmux 3.2 pads a row to the width of the pane. */
export function withoutPadding(row: string): string {
  return row.replace(/(?<! ) +$/, "");
}

/**
 * Captures the screens of several panes with one forked call. A random mark, which no screen can contain, separates them.
 * @param above maximum number of history rows for each pane
 * @returns the rows of each target, wrapped lines joined, without trailing spaces; undefined if its condition does not hold or the
 * server is gone
 * @throws TeamError TMUX_ERROR
 */
export async function capturePanes(
  server: TmuxServer,
  targets: readonly CaptureTarget[],
  above: number,
): Promise<readonly (readonly string[] | undefined)[]> {
  if (targets.length === 0) return [];
  const mark = `rows-${randomUUID()}`;
  const commands = targets.map(({ pane, condition }, i) =>
    ifElse(
      pane,
      condition,
      [
        ["display-message", "-p", "-t", pane, `${mark} ${i}`],
        ["capture-pane", "-p", "-J", "-S", `-${above}`, "-t", pane],
      ],
      [],
    ),
  );
  try {
    const { text } = await server.batch(commands);
    const found = rowsByTarget(text, mark);
    return targets.map((_, i) => found.get(i));
  } catch (error) {
    if (isNoServer(error)) return targets.map(() => undefined);
    throw error;
  }
}

function rowsByTarget(text: string, mark: string): ReadonlyMap<number, readonly string[]> {
  const found = new Map<number, string[]>();
  let rows: string[] | undefined;
  for (const line of text.replace(/\n$/, "").split("\n")) {
    if (line.startsWith(mark)) {
      rows = [];
      found.set(Number(line.slice(mark.length)), rows);
    } else rows?.push(withoutPadding(line));
  }
  return found;
}
