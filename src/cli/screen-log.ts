import { EXIT, TeamError } from "../errors.ts";
import { placeOfMember } from "../operations/processes/place-of-member.ts";
import { operationContext } from "../runtime/operation-context.ts";
import type { OpenTeam } from "../runtime/select-team.ts";
import type { AnyCall } from "../terminal/call.ts";
import { line } from "../terminal/output.ts";
import { stripControls } from "../text/terminal-text.ts";
import { followScreen } from "./peek-follow.ts";
import { rowRenderer } from "./peek-renderer.ts";

/** More rows than a pane keeps. */
const ALL_ROWS = 1_000_000;

/**
 * Prints the rows that a foreign member's pane shows and keeps: its conversation belongs to its own program.
 * @param options.rows how many, from the end
 * @returns the exit status; undefined if no pane is known to be the member's
 * @throws TeamError INVALID_INPUT if another option needs a conversation
 */
export async function printScreenLog(
  call: AnyCall,
  open: OpenTeam,
  name: string,
  { rows, follow, refused }: { readonly rows: number; readonly follow: boolean; readonly refused: boolean },
): Promise<number | undefined> {
  const { io, out } = call;
  const ctx = await operationContext(call, open);
  const place = await placeOfMember(ctx, name);
  const backend = place && ctx.backends.of(place.backend);
  if (place === undefined || backend === undefined) return undefined;
  if (refused) {
    throw new TeamError(
      "INVALID_INPUT",
      `${name}'s own program keeps the conversation; teams can only show its pane.`,
      { hint: "Leave out --raw, --debug and --before." },
    );
  }
  if (follow) {
    const renderer = rowRenderer(out, name);
    const end = await followScreen(ctx, name, renderer, { rows, signal: io.interruption() });
    return end.kind === "nowhere" ? undefined : end.kind === "interrupted" ? EXIT.interrupted : EXIT.done;
  }
  const lines = await backend.capture(place, Math.min(rows, ALL_ROWS));
  if (lines === undefined) return undefined;
  out.answer({ lines }, () => stripControls(lines.join("\n")));
  out.note(line`These are the rows of ${name}'s pane; its program keeps the conversation.`);
  return EXIT.done;
}
